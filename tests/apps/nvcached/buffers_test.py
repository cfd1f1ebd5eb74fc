#!/usr/bin/env python3
"""The cost of requests and answers in flight: bounded DRAM, and few zones of the store.

usage: buffers_test.py SERVER
"""
import multiprocessing
import os
import resource
import socket
import sys
import threading
import time

from running_server import (LONG_SECONDS, ReadBytes, Server, check, equal, expect, receive, run,
                            stats, store, wait_until)

PROGRAM = sys.argv[1]
MIB = 1 << 20


def batches_do_not_pin_the_store():
    """Answers of a batch wait to be sent, and pin all three zones, while it stores a value, or
    numbers that together take more than a zone has left."""
    value = b"set k0 0 0 30000\r\n%s\r\n" % (b"y" * 30_000)
    numbers = b"".join(b"ma %s N0\r\n" % (b"%d" % i).zfill(250) for i in range(1000))
    for stores, stored in ((value, b"STORED\r\n"), (numbers, b"HD\r\n" * 1000)):
        with Server(PROGRAM, "-m", "1", "-I", "120k") as server, server.connect() as client:
            for i in range(9):  # three to a zone
                equal(store(client, b"k%d" % i, b"x" * 80_000), b"STORED\r\n")
            client.sendall(b"get k0\r\nget k3\r\nget k6\r\n" + stores + b"mn\r\n")
            answer = receive(client, b"MN\r\n")
            check(answer.endswith(b"END\r\n" + stored + b"MN\r\n"), answer[-60:])
            check(answer.count(b"VALUE") == 3, answer[:60])


def slow_readers(most_mib, done):
    """(kicked connections, growth in MiB) of 1,024 clients that ask for 12 MiB and do not read,
    as soon as they are `done`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2048)), hard))
    with Server(PROGRAM, "-m", "64", "-c", "2048", f"--buffer-memory={most_mib}m") as server:
        with server.connect() as client:
            equal(store(client, b"large", b"x" * (MIB - 300)), b"STORED\r\n")
        before = server.anonymous_kb()
        read = ReadBytes(server)
        request = b"get large\r\n" * 12
        clients = []
        most = 0

        def grown_mib():
            nonlocal most
            most = max(most, server.anonymous_kb())
            return (most - before) // 1024

        def all_asked():
            grown_mib()
            return read.count() - read.before >= 1024 * len(request)

        try:
            for _ in range(1024):
                client = socket.socket()
                client.settimeout(LONG_SECONDS)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect(("127.0.0.1", server.port))
                clients.append(client)
                client.sendall(request)
                if len(clients) % 20 == 0:
                    grown_mib()
            wait_until(all_asked, lambda: f"{read.count()} bytes were read")
            # Answers that do not move on are copied a second or two later.
            wait_until(lambda: done(grown_mib(), int(stats(server)["buffer_kicks"])),
                       lambda: f"grew by {grown_mib()} MiB; {stats(server)['buffer_kicks']} closed")
            equal(store(read.client, b"other", b"hi"), b"STORED\r\n")
            # Those that are closed for others' sake give theirs back a moment later.
            wait_until(lambda: int(stats(server)["buffer_bytes"]) <= most_mib * MIB,
                       lambda: stats(server)["buffer_bytes"])
            all_stats = stats(server)
            return int(all_stats["buffer_kicks"]), grown_mib()
        finally:
            for client in clients:
                client.close()


def slow_readers_are_bounded():
    kicked, growth_mib = slow_readers(16, lambda growth_mib, kicked: kicked > 500)
    check(growth_mib < 40, growth_mib)
    print(f"  16 MiB: {kicked} closed, {growth_mib} MiB more")


def without_a_bound_they_take_more():
    """The control: where the budget is large, the same clients take what they ask for."""
    kicked, growth_mib = slow_readers(2048, lambda growth_mib, kicked: growth_mib > 60)
    equal(kicked, 0)
    print(f"  2 GiB: {kicked} closed, {growth_mib} MiB more")


class SteadyReader(threading.Thread):
    """Asks for more than fits, and reads on until it is told to stop, but not fast."""

    def __init__(self, server, answer):
        super().__init__()
        self.client = server.connect()
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.answer_bytes, self.twice = len(answer), memoryview(answer * 2)
        self.got, self.wrong, self.stops = 0, None, False
        self.longest_pause_s = 0

    def run(self):
        try:
            asked_bytes = 0
            before = time.monotonic()
            while not self.stops:
                while asked_bytes < self.got + 4 * MIB:
                    self.client.sendall(b"get large\r\n")
                    asked_bytes += self.answer_bytes
                part = self.client.recv(32768)
                now = time.monotonic()
                self.longest_pause_s = max(self.longest_pause_s, now - before)
                before = now
                if not part:
                    raise EOFError(f"closed after {self.got} bytes")
                at = self.got % self.answer_bytes
                if self.twice[at:at + len(part)] != part:
                    raise ValueError("other bytes")
                self.got += len(part)
                time.sleep(0.01)  # 3 MB/s at most
        except (OSError, EOFError, ValueError) as error:
            self.wrong = error
        finally:
            self.client.close()


def steady_and_dead(server, answer):
    """Six clients that read steadily, beside forty that come later, to all workers, and read
    nothing; and how many were closed."""
    readers = [SteadyReader(server, answer) for _ in range(6)]

    def have_read(mib):
        goals = [reader.got + mib * MIB for reader in readers]
        return lambda: all(reader.wrong or reader.got >= goal
                           for reader, goal in zip(readers, goals))

    dead = []
    try:
        for reader in readers:
            reader.start()
        wait_until(have_read(12), "they do not read")  # four seconds: then they are known
        before = int(stats(server)["buffer_kicks"])
        for _ in range(40):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", server.port))
            client.sendall(b"get large\r\n" * 12)
            dead.append(client)
        wait_until(have_read(9), "they do not read on")
        return readers, int(stats(server)["buffer_kicks"]) - before
    finally:
        for reader in readers:
            reader.stops = True
            reader.join()
        for client in dead:
            client.close()


def those_that_read_on_stay():
    """A round in which the machine keeps a client from reading for a second does not count."""
    value = os.urandom(1000) * 1000
    answer = b"VALUE large 0 1000000\r\n%s\r\nEND\r\n" % value
    with Server(PROGRAM, "-m", "64", "-t", "4", "--buffer-memory=16m") as server:
        with server.connect() as client:
            equal(store(client, b"large", value), b"STORED\r\n")
        for _ in range(10):
            readers, closed = steady_and_dead(server, answer)
            wrong = [reader.wrong for reader in readers if reader.wrong]
            if not wrong or max(reader.longest_pause_s for reader in readers) < 1:
                break
        check(not wrong, f"of six clients that read on: {wrong}")
        check(closed > 0, "the memory was never full")
        print(f"  {closed} of 40 closed")


HOSTILE_EACH = 1000
HONEST = 20
ROUNDS = 15


def use_large_values(port, number, rounds, stops):
    """An honest client: stores and reads 900,000 bytes until it is told to stop, and counts its
    rounds; -1: it failed. In a process of its own, so that the hostile ones do not keep it from its
    work."""
    value = os.urandom(1000) * 900
    key = b"honest%d" % number
    got = b"VALUE %s 0 900000\r\n%s\r\nEND\r\n" % (key, value)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=LONG_SECONDS) as client:
            while not stops.value:
                equal(store(client, key, value), b"STORED\r\n")
                client.sendall(b"get %s\r\n" % key * 4 + b"mn\r\n")
                expect(client, got * 4 + b"MN\r\n")
                rounds[number] += 1
    except Exception as error:  # whatever it is, it is reported
        rounds[number] = -1
        print(f"  honest client {number}: {error!r}"[:300], flush=True)


class Hostile:
    """Clients that hold what they can: with half a request, or an answer that they do not take, or
    take by a byte a second."""

    def __init__(self, port):
        self.half, self.silent, self.slow = [], [], []
        self.took_at = 0
        for _ in range(HOSTILE_EACH):
            for kind in (self.half, self.silent, self.slow):
                client = socket.socket()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect(("127.0.0.1", port))
                client.setblocking(False)
                kind.append(client)

    def begin(self):
        for half, silent, slow in zip(self.half, self.silent, self.slow):
            self.send(half, b"set half 0 0 900000\r\n" + b"x" * 120_000)
            for client in (silent, slow):
                self.send(client, b"get large\r\n" * 12)

    @staticmethod
    def send(client, data):
        try:
            client.send(data)
        except OSError:
            pass  # closed, or it sends less

    def take_a_byte(self):
        """At most once a second."""
        if time.monotonic() < self.took_at + 1:
            return
        self.took_at = time.monotonic()
        for client in self.slow:
            try:
                client.recv(1)
            except OSError:
                pass

    def close(self):
        for client in self.half + self.silent + self.slow:
            client.close()


def who_moves_stays():
    """Clients with half requests, ones that take nothing and ones that take a byte a second do not
    cost those their connections that use large values, nor the server more than its limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    most_mib = 64
    with Server(PROGRAM, "-m", "256", "-c", "4096", "-t", "4",
                f"--buffer-memory={most_mib}m") as server:
        with server.connect() as client:
            equal(store(client, b"large", b"x" * 900_000), b"STORED\r\n")
        rounds = multiprocessing.Array("q", HONEST)
        stops = multiprocessing.Value("b", 0)
        honest = [multiprocessing.Process(target=use_large_values,
                                          args=(server.port, number, rounds, stops))
                  for number in range(HONEST)]
        hostile = Hostile(server.port)
        counted, before = 0, server.anonymous_kb()
        try:
            for process in honest:
                process.start()

            def have_done(more):
                nonlocal counted
                goals = [done + more for done in rounds]

                def done():
                    nonlocal counted
                    counted = max(counted, int(stats(server)["buffer_bytes"]))
                    hostile.take_a_byte()
                    return all(now < 0 or now >= goal for now, goal in zip(rounds, goals))
                return done

            wait_until(have_done(1), lambda: f"they do nothing: {list(rounds)}")
            hostile.begin()
            wait_until(have_done(ROUNDS), lambda: f"they do not go on: {list(rounds)}")
            grown_mib = (server.anonymous_kb() - before) // 1024
            kicks = int(stats(server)["buffer_kicks"])
        finally:
            stops.value = 1
            for process in honest:
                process.join()
            hostile.close()
        print(f"  {kicks} closed, {counted / MIB:.1f} MiB counted, {grown_mib} MiB more")
        check(min(rounds) > 0, f"{sum(done < 0 for done in rounds)} honest clients were closed")
        check(kicks > HOSTILE_EACH, kicks)
        check(counted <= most_mib * MIB, counted)
        check(grown_mib < 1.5 * most_mib, grown_mib)


def large_values_are_not_copied():
    """Answers that do not fit into the socket stay pinned in the store, as long as they move. A
    round in which the machine keeps this client from reading for a second does not count."""
    with Server(PROGRAM, "-m", "512") as server:
        with server.connect() as client:
            value = os.urandom(1000) * 1000
            equal(store(client, b"large", value), b"STORED\r\n")
            copied = [0]
            while copied.count(copied[-1]) <= 10:
                client.sendall(b"get large\r\n" * 10 + b"mn\r\n")
                expect(client, b"VALUE large 0 1000000\r\n%s\r\nEND\r\n" % value * 10 + b"MN\r\n")
                copied.append(int(stats(server)["copied_bytes"]))
                check(len(set(copied)) < 10, copied)


def buffers_are_given_back():
    with Server(PROGRAM, "-m", "16") as server:
        for _ in range(3):
            with server.connect() as client:
                client.sendall(b"set a 0 0 1000000\r\n" + b"x" * 900_000)
                wait_until(lambda: int(stats(server)["buffer_bytes"]) >= 900_000,
                           "what has arrived does not count")
        wait_until(lambda: stats(server)["buffer_bytes"] == "0",
                   lambda: stats(server)["buffer_bytes"])


if __name__ == "__main__":
    sys.exit(run([batches_do_not_pin_the_store, slow_readers_are_bounded,
                  without_a_bound_they_take_more, those_that_read_on_stay,
                  who_moves_stays,
                  large_values_are_not_copied, buffers_are_given_back]))
