#!/usr/bin/env python3
"""Hours in minutes: nvcached under a mixed load, with slow readers, garbage, and kills. Every value
must be the newest acknowledged one, the one in flight at a kill, or missing; the memory outside of
the store must stay flat; another client is always served.

usage: soak_test.py SERVER [SECONDS | --control]     (600)
  --control  negative control: puts an older copy of the file back after a kill, and passes only if
             the check finds older values. Counts operations, not SECONDS

The seed is printed; NVCACHE_TEST_SEED replays what the clients send (not its timing).
"""
import os
import random
import shutil
import socket
import sys
import tempfile
import threading
import time
import zlib

from running_server import LONG_SECONDS, Server, free_port, receive, wait_until

PROGRAM = sys.argv[1]
CONTROL = sys.argv[2:] == ["--control"]
SECONDS = 0 if CONTROL else int(sys.argv[2]) if len(sys.argv) > 2 else 600
SEED = int(os.environ.get("NVCACHE_TEST_SEED") or time.time_ns() % (1 << 32))
WORKERS = 6
KEYS = 800
SLOW_READERS = 40
SECONDS_PER_LIFE = 60
CONTROL_LIVES = 4
OPERATIONS_PER_LIFE = 4 * WORKERS * KEYS  # of the control: most keys change in each life
OPTIONS = ("-m", "64", "-c", "2048", "--buffer-memory", "32m", "-o", "idle_timeout=300")
# Beside the first reading, after the load has been there for a while.
MOST_GROWTH_KB = 48 << 10


class Wrong(Exception):
    """A value that must not be there."""


def make_value(key, number):
    mix = zlib.crc32(f"{key} {number}".encode())
    size = 50_000 + mix % 60_000 if mix % 97 == 0 else mix % 1500
    return f"{key} {number} ".encode() + bytes([65 + mix % 26]) * size


class Worker(threading.Thread):
    """A client with keys of its own. `states`: key -> numbers of which one may be stored."""

    def __init__(self, soak, index):
        super().__init__(daemon=True)
        self.soak, self.index = soak, index
        self.random = random.Random(SEED * 1000 + index)
        self.allowed = {}
        self.number = 0
        self.operations = self.misses = 0
        self.problem = None

    def run(self):
        try:
            while not self.soak.over:
                try:
                    with self.soak.connect() as client:
                        while not self.soak.over:
                            self.one(client)
                except TimeoutError:
                    # The request may still be carried out at any time: nothing would be known.
                    raise Wrong(f"no answer within {LONG_SECONDS} s") from None
                except (OSError, EOFError):
                    time.sleep(0.05)  # killed, or not up yet
        except Wrong as wrong:
            self.problem = str(wrong)

    @staticmethod
    def line(client):
        answer = b""
        while not answer.endswith(b"\r\n"):
            part = client.recv(1)
            if not part:
                raise EOFError
            answer += part
        return answer[:-2]

    @staticmethod
    def exactly(client, size):
        parts = []
        while size > 0:
            part = client.recv(min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def get(self, client, key):
        client.sendall(f"get {key}\r\n".encode())
        line = self.line(client)
        if line == b"END":
            return None
        words = line.split()
        if len(words) != 4 or words[0] != b"VALUE" or words[1].decode() != key:
            raise Wrong(f"seed {SEED}: get {key} answered {line!r}")
        value = self.exactly(client, int(words[3]) + 2)[:-2]
        if self.line(client) != b"END":
            raise Wrong(f"seed {SEED}: no END behind {key}")
        return value

    def one(self, client):
        self.operations += 1
        key = f"w{self.index}-{self.random.randrange(KEYS)}"
        allowed = self.allowed.setdefault(key, {None})
        dice = self.random.random()
        if dice < 0.5:
            value = self.get(client, key)
            number = None
            if value is not None:
                number = int(value.split(b" ", 2)[1])
                if value != make_value(key, number):
                    raise Wrong(f"seed {SEED}: torn value of {key}: {value[:60]!r}")
                if number not in allowed:
                    raise Wrong(f"seed {SEED}: {key} has {number}; allowed: {allowed}")
                self.allowed[key] = {number, None}
            else:
                self.misses += 1
                self.allowed[key] = {None}  # what was lost stays lost
        elif dice < 0.9:
            self.number += 1
            value = make_value(key, self.number)
            self.allowed[key] = allowed | {self.number, None}  # in flight
            client.sendall(b"set %s 0 0 %d\r\n%s\r\n" % (key.encode(), len(value), value))
            line = self.line(client)
            if line != b"STORED":
                raise Wrong(f"seed {SEED}: set {key} of {len(value)} bytes answered {line!r}")
            self.allowed[key] = {self.number, None}
        else:
            self.allowed[key] = allowed | {None}
            client.sendall(f"delete {key}\r\n".encode())
            line = self.line(client)
            if line not in (b"DELETED", b"NOT_FOUND"):
                raise Wrong(f"seed {SEED}: delete {key} answered {line!r}")
            self.allowed[key] = {None}


class Nuisance(threading.Thread):
    """Clients that read nothing, send garbage, or announce what never comes."""

    def __init__(self, soak):
        super().__init__(daemon=True)
        self.soak = soak
        self.random = random.Random(SEED)
        self.sent = 0

    def slow_reader(self):
        client = socket.socket()
        client.settimeout(5)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", self.soak.server.port))
        client.sendall(b"get large\r\n" * 30)
        return client

    def garbage(self):
        with self.soak.connect() as client:
            kind = self.random.randrange(4)
            if kind == 0:
                client.sendall(self.random.randbytes(self.random.randrange(1, 5000)))
            elif kind == 1:
                client.sendall(b"set g 0 0 900000\r\n" + b"x" * self.random.randrange(5000))
            elif kind == 2:
                client.sendall(b"\x80" + self.random.randbytes(23))
            else:
                client.sendall(b"lru_crawler metadump all\r\n" * 3)
            client.settimeout(0.05)
            try:
                client.recv(1000)
            except OSError:
                pass

    def run(self):
        slow = []
        while not self.soak.over:
            try:
                for _ in range(5):
                    self.garbage()
                slow.append(self.slow_reader())
                self.sent += 6
            except OSError:
                time.sleep(0.05)
            while len(slow) > SLOW_READERS:
                slow.pop(self.random.randrange(len(slow))).close()
        for client in slow:
            client.close()


class Soak:
    def __init__(self):
        self.over = False
        self.server = None
        self.workers = []
        # The same for all lives, so that no other server has it between two.
        self.port = free_port()

    def start(self, folder):
        return Server(PROGRAM, *OPTIONS, port=self.port, folder=folder)

    def connect(self):
        return self.server.connect()

    def operations(self):
        return sum(worker.operations for worker in self.workers)

    def life(self, folder, seconds, number):
        """One process from its start to its kill. Returns what is wrong, or None."""
        with self.start(folder) as server:
            self.server = server
            with self.connect() as client:
                client.sendall(b"set large 0 0 900000\r\n" + b"L" * 900_000 + b"\r\n")
                if receive(client, b"\r\n") != b"STORED\r\n":
                    return "the large value is not stored"
            if CONTROL:
                self.work_on()
            until, first_kb, most_kb = time.time() + seconds, 0, 0
            while time.time() < until and not any(worker.problem for worker in self.workers):
                time.sleep(min(2, seconds / 5))
                if server.process.poll() is not None:
                    return f"ended by itself with {server.process.returncode}: {server.log_text()}"
                with self.connect() as client:
                    client.sendall(b"mn\r\n")
                    if receive(client, b"MN\r\n") != b"MN\r\n":
                        return "a client is not served"
                now_kb = server.anonymous_kb()
                first_kb = first_kb or now_kb
                most_kb = max(most_kb, now_kb)
            misses = sum(worker.misses for worker in self.workers)
            print(f"life {number}: {self.operations():,} operations, {misses:,} misses in all, "
                  f"{first_kb >> 10} to {most_kb >> 10} MiB, {self.nuisance.sent:,} nuisances",
                  flush=True)
            if most_kb - first_kb > MOST_GROWTH_KB:
                return f"memory grew from {first_kb} to {most_kb} kB"
            if CONTROL and number == 1:
                server.kill()
                shutil.copy(os.path.join(folder, "nvcached", "data"), folder + "/older")
            if number % 2 == 0:
                server.kill()
                if CONTROL:
                    shutil.copy(folder + "/older", os.path.join(folder, "nvcached", "data"))
        return next((worker.problem for worker in self.workers if worker.problem), None)

    def work_on(self):
        """Until the workers have done a life's operations, or found something wrong."""
        goal = self.operations() + OPERATIONS_PER_LIFE
        wait_until(lambda: self.operations() >= goal
                   or any(worker.problem for worker in self.workers), "too little is done")

    def run(self):
        print(f"seed {SEED}, {'the control' if CONTROL else f'{SECONDS} s'}", flush=True)
        with tempfile.TemporaryDirectory(prefix="nvcache_soak_") as folder:
            self.server = self.start(folder)
            self.server.stop()
            self.workers = [Worker(self, index) for index in range(WORKERS)]
            self.nuisance = Nuisance(self)
            for thread in (*self.workers, self.nuisance):
                thread.start()
            end, number, problem = time.time() + SECONDS, 0, None
            while problem is None and (number < CONTROL_LIVES if CONTROL else time.time() < end):
                number += 1
                seconds = 0 if CONTROL else min(SECONDS_PER_LIFE, max(5, end - time.time()))
                problem = self.life(folder, seconds, number)
            self.over = True
            for thread in (*self.workers, self.nuisance):
                thread.join(LONG_SECONDS)
        if CONTROL:
            found = problem is not None and "; allowed: " in problem
            print(f"control {'passed' if found else 'FAILED'}: {problem}")
            return 0 if found else 1
        if problem:
            print("FAILED: " + problem)
            return 1
        print(f"passed: {number} lives, {self.operations():,} operations, "
              "every value right")
        return 0


if __name__ == "__main__":
    sys.exit(Soak().run())
