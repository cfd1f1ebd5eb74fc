#!/usr/bin/env python3
"""Kills nvcached, again and again, until enough kills came while it cleaned a zone: its next start
says so. After each of those, every acknowledged item must be there, with its newest value or the
one that was being written.

The store is three quarters full of small items that are overwritten at random, in a few large
zones: moving what lives in one takes a millisecond. The kills come when the header of a zone says
that it is being cleaned, or some moments later.

usage: kill_cleaning_test.py SERVER [DURABILITY]

The seed is printed; NVCACHE_TEST_SEED replays what is sent, but not when the kills come.
"""
import mmap
import os
import random
import sys
import tempfile
import threading
import time

from running_server import Server

PROGRAM = sys.argv[1]
DURABILITY = sys.argv[2] if len(sys.argv) > 2 else "each"
SEED = int(os.environ.get("NVCACHE_TEST_SEED") or time.time_ns() % (1 << 32))
HITS = 25
MOST_KILLS = 500  # nearly each comes while a zone is cleaned
MOST_LATE_SECONDS = 0.001
KEYS = 120_000
BATCH = 100
STORE = f"nvkv://?size=32m&zone=4m&item=128&write_cache=0&durability={DURABILITY}"
STORED = b"STORED\r\n"


def key_of(index):
    return b"key%06d" % index


def value_of(index, number):
    """Which key it is of, and the how manieth value: no other has the same bytes."""
    return b"%06d %09d " % (index, number) * (4 + (index + number) % 7)


class Client:
    """Sets items, and knows what was acknowledged."""

    def __init__(self):
        self.random = random.Random(SEED)
        self.numbers = [0] * KEYS
        self.pending = {}  # index: numbers that were sent behind it, and not answered
        self.number = 0

    def send_batch(self, connection, indices):
        """Sends sets and reads the answers; what was answered counts as known. False if the server
        ended."""
        sent = []
        request = []
        for index in indices:
            self.number += 1
            sent.append((index, self.number))
            self.pending.setdefault(index, []).append(self.number)
            value = value_of(index, self.number)
            request.append(b"set %b 0 0 %d\r\n%b\r\n" % (key_of(index), len(value), value))
        answered = b""
        try:
            connection.sendall(b"".join(request))
            while len(answered) < len(sent) * len(STORED):
                part = connection.recv(1 << 16)
                if not part:
                    break
                answered += part
        except ConnectionError:
            pass
        count = len(answered) // len(STORED)
        if answered[:count * len(STORED)] != STORED * count:
            raise AssertionError(f"a set was answered by {answered[:80]!r}")
        for index, number in sent[:count]:
            self.numbers[index] = number
            self.pending[index] = [later for later in self.pending[index] if later > number]
        return count == len(sent)

    def fill(self, connection):
        for first in range(0, KEYS, BATCH):
            self.send_batch(connection, range(first, first + BATCH))

    def overwrite(self, connection):
        return self.send_batch(connection, [self.random.randrange(KEYS) for _ in range(BATCH)])

    def lost(self, connection):
        """The keys whose value is neither the newest nor one that was being written."""
        wrong = []
        for first in range(0, KEYS, BATCH):
            indices = range(first, first + BATCH)
            connection.sendall(b"get " + b" ".join(map(key_of, indices)) + b"\r\n")
            answer = b""
            while not answer.endswith(b"END\r\n"):
                part = connection.recv(1 << 20)
                if not part:
                    raise AssertionError("the server closed the connection")
                answer += part
            values = {}
            lines = answer.split(b"\r\n")
            for head, value in zip(lines[::2], lines[1::2]):
                if head.startswith(b"VALUE "):
                    values[head.split()[1]] = value
            for index in indices:
                allowed = [self.numbers[index], *self.pending.get(index, [])]
                found = values.get(key_of(index))
                now = [number for number in allowed if found == value_of(index, number)]
                if now:
                    self.numbers[index] = now[0]
                else:
                    wrong.append((key_of(index), allowed, found))
        self.pending = {}
        return wrong


class Headers:
    """The headers of the zones, in the file of a store (docs/design/format.md)."""

    BEGIN, WORDS, BEING_CLEANED = 12288 // 8, 64 // 8, 1 << 39
    ZONES = 4  # the word of the superblock that says how many there are

    def __init__(self, path):
        with open(path, "rb") as file:
            self.file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.words = memoryview(self.file).cast("Q")
        end = self.BEGIN + self.words[self.ZONES] * self.WORDS
        self.versions = range(self.BEGIN, end, self.WORDS)

    def any_is_being_cleaned(self):
        return any(self.words[at] & self.BEING_CLEANED for at in self.versions)


def load_and_kill(server, client, headers, late_seconds):
    """Kills it when a zone is being cleaned, or that much later."""
    def kill_in_cleaning():
        while not headers.any_is_being_cleaned():
            if server.process.poll() is not None:
                return
        until = time.perf_counter() + late_seconds
        while time.perf_counter() < until:
            pass
        server.process.kill()

    killer = threading.Thread(target=kill_in_cleaning)
    with server.connect() as connection:
        killer.start()
        while client.overwrite(connection):
            pass
    killer.join()
    server.kill()


def main():
    print(f"seed {SEED}, durability {DURABILITY}", flush=True)
    moments = random.Random(SEED + 1)
    client = Client()
    hits = kills = 0
    with tempfile.TemporaryDirectory(prefix="nvcached_kill_cleaning_") as folder:
        path = os.path.join(folder, "data")
        options = ("--store", STORE + "&medium=file:" + path)
        with Server(PROGRAM, *options, folder=folder) as server, server.connect() as connection:
            client.fill(connection)
            if wrong := client.lost(connection):
                print(f"{len(wrong)} items do not fit, such as {wrong[0]}")
                return 1
        headers = Headers(path)
        while hits < HITS and kills < MOST_KILLS:
            server = Server(PROGRAM, *options, folder=folder)
            unfinished = "finished a cleaning" in server.log_text()
            hits += unfinished
            if unfinished or kills % 50 == 49:
                with server.connect() as connection:
                    if wrong := client.lost(connection):
                        print(f"LOST by kill {kills}, {unfinished=}: {len(wrong)} items, such as "
                              f"{wrong[:3]}")
                        server.stop()
                        return 1
            load_and_kill(server, client, headers, moments.uniform(0, MOST_LATE_SECONDS))
            kills += 1
    print(f"{hits} of {kills} kills came while a zone was cleaned; no item of {KEYS} was lost")
    return 0 if hits == HITS else 1


if __name__ == "__main__":
    sys.exit(main())
