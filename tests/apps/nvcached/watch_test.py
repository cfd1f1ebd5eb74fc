#!/usr/bin/env python3
"""`watch`: what clients are told of what others do.

usage: watch_test.py SERVER
"""
import os
import re
import select
import sys

from running_server import (LONG_SECONDS, MOST_BYTES, Server, check, expect, receive,
                            receive_while, run, send, wait_until)

PROGRAM = sys.argv[1]


def lines(client, until):
    """Lines that a watcher gets up to the one that holds `until`."""
    text = receive_while(client, lambda so_far: 0 if until in so_far and so_far.endswith(b"\n")
                         else MOST_BYTES)
    return text.decode().splitlines()


def fetchers_and_mutations():
    with Server(PROGRAM, "-o", "watcher_logbuf_size=8") as server:
        with server.connect() as watcher, server.connect() as client:
            watcher.sendall(b"watch fetchers mutations deletions\r\n")
            expect(watcher, b"OK\r\n")
            client.sendall(b"set a#b 5 6000 2\r\nhi\r\nget a#b\r\nmg c v\r\ncas d 0 0 1 9\r\nx\r\n"
                           b"set n 0 0 1\r\n9\r\nincr n 1\r\ndelete a#b\r\n"
                           b"set big 0 0 2000000\r\n" + b"x" * 2000000 + b"\r\nget last\r\n")
            receive(client, b"large for cache\r\nEND\r\n")
            seen = []
            for at, line in enumerate(lines(watcher, b"key=last")):
                time_word, number, rest = line.split(" ", 2)
                check(re.fullmatch(r"ts=\d+\.\d{6}", time_word), line)
                check(number == f"gid={at + 1}", line)
                rest = re.sub(r"cfd=\d+", "cfd=N", rest)
                seen.append(re.sub(r"ttl=599\d", "ttl=6000", rest))  # a second may have begun
            expected = [
                "type=item_get key=a%23b status=not_found clsid=0 cfd=N size=0",
                "type=item_store key=a%23b status=stored cmd=set ttl=6000 clsid=1 cfd=N size=2",
                "type=item_get key=a%23b status=found clsid=1 cfd=N size=2",
                "type=item_get key=c status=not_found clsid=0 cfd=N size=0",
                "type=item_get key=d status=not_found clsid=0 cfd=N size=0",
                "type=item_store key=d status=not_found cmd=cas ttl=0 clsid=1 cfd=N size=1",
                "type=item_get key=n status=not_found clsid=0 cfd=N size=0",
                "type=item_store key=n status=stored cmd=set ttl=0 clsid=1 cfd=N size=1",
                "type=item_get key=n status=found clsid=1 cfd=N size=1",
                "type=item_store key=n status=stored cmd=incr ttl=0 clsid=1 cfd=N size=2",
                "type=item_get key=a%23b status=found clsid=1 cfd=N size=2",
                "type=deleted key=a%23b cmd=delete clsid=1 cfd=N size=2",
                "type=item_store key=big status=too_large cmd=set ttl=0 clsid=1 cfd=N size=2000000",
                "type=item_get key=last status=not_found clsid=0 cfd=N size=0"]
            for line, wanted in zip(seen, expected):
                check(line == wanted, (line, wanted))
            check(len(seen) == len(expected), seen)
            # A watcher's requests are dropped; it is told of nothing that it did not ask for.
            watcher.sendall(b"get a\r\nquit\r\n")
            with server.connect():
                pass
            client.sendall(b"get z\r\n")
            got = lines(watcher, b"key=z")
            check(len(got) == 1 and "key=z" in got[0], got)


def slow_watchers():
    """A watcher that does not read loses lines, is told how many, and goes on."""
    with Server(PROGRAM, "-o", "watcher_logbuf_size=8") as server:
        with server.connect() as watcher, server.connect() as client:
            watcher.sendall(b"watch\r\n")
            expect(watcher, b"OK\r\n")
            for first in range(0, 200_000, 1000):
                client.sendall(b"".join(b"get k%d\r\n" % i for i in range(first, first + 1000)))
                expect(client, b"END\r\n" * 1000)
            skipped = skipped_lines(watcher, client)
            stats = server.ask(b"stats\r\n", b"END\r\n").decode()
            check("STAT log_watchers 1\r\n" in stats, stats)
            check(int(re.search("log_watcher_skipped (\\d+)", stats)[1]) >= skipped, stats)


def skipped_lines(watcher, client):
    """How many lines the watcher is told to have lost. Only a line that finds room says so, which
    the client's next gets bring about."""
    text = b""
    watcher.settimeout(0.02)

    def told():
        nonlocal text
        client.sendall(b"get again\r\n")
        expect(client, b"END\r\n")
        try:
            text = text[-100:] + watcher.recv(1 << 20)
        except TimeoutError:
            pass
        return re.search(rb"\nskipped=(\d+)\n", text)

    return int(wait_until(told, "no line says how many were skipped")[1])


def connections():
    with Server(PROGRAM) as server:
        with server.connect() as watcher:
            watcher.sendall(b"watch connevents\r\n")
            expect(watcher, b"OK\r\n")
            for request, reason in ((b"quit\r\n", "normal"), (b"", "normal"),
                                    (b"GET / HTTP/1.1\r\n", "error")):
                with server.connect() as client:
                    name = client.getsockname()
                    send(client, request)
                    if request:
                        receive(client)
                opened, closed = lines(watcher, b"type=conn_close")
                check(f"type=conn_new rip={name[0]} rport={name[1]} transport=tcp cfd=" in opened,
                      opened)
                check(f"transport=tcp reason={reason} cfd=" in closed, closed)


def limits():
    with Server(PROGRAM) as server:
        watchers = [server.connect() for _ in range(21)]
        answers = []
        for each in watchers:
            each.sendall(b"watch\r\n")
            answers.append(receive(each, b"\r\n"))
        check(answers[:20] == [b"OK\r\n"] * 20 and answers[20].startswith(b"WATCHER_TOO_MANY"),
              answers)
        for each in watchers:
            each.close()
        wait_until(lambda: b"log_watchers 0\r\n" in server.ask(b"stats\r\n", b"END\r\n"),
                   "watchers that closed are still counted")
        check(server.ask(b"watch nonsense\r\n", b"\r\n") == b"ERROR\r\n")
    with Server(PROGRAM, "-W") as server:
        check(server.ask(b"watch\r\n", b"\r\n")
              == b"CLIENT_ERROR watch commands not allowed\r\n")


def evictions():
    """Each item that is gone was told of."""
    if os.path.basename(PROGRAM) == "nvcached_memory":
        return "a store in memory evicts nothing"
    # Room for all lines: a watcher that is slow to read loses none.
    with Server(PROGRAM, "-m", "4", "-o", "watcher_logbuf_size=2048") as server:
        with server.connect() as watcher, server.connect() as client:
            watcher.sendall(b"watch evictions\r\n")
            expect(watcher, b"OK\r\n")
            told = Told(watcher)
            for first in range(0, 8000, 200):
                client.sendall(b"".join(b"set k%d 0 0 1000 noreply\r\n%s\r\n" % (i, b"x" * 1000)
                                        for i in range(first, first + 200)))
                client.sendall(b"mn\r\n")
                expect(client, b"MN\r\n")
            # A zone may be cleaned in the background at any time.
            wait_until(lambda: told.read() == evicted(client), "not all evictions are told of")
            every = {f"k{i}" for i in range(8000)}
            told.fetched = "(?:yes|no)"  # from here on
            kept = stored(client, every)
            check(len(kept) < 4200, len(kept))
            wait_until(lambda: told.read() and told.keys == every - stored(client, every),
                       lambda: f"{len(told.keys)} told, {len(stored(client, every))} there")
    return None


def evicted(client):
    client.sendall(b"stats\r\n")
    return int(re.search(rb"STAT evictions (\d+)", receive(client, b"END\r\n"))[1])


def stored(client, keys):
    """Those that the server has."""
    client.sendall(b"".join(b"mg %s k\r\n" % key.encode() for key in keys) + b"mn\r\n")
    return set(re.findall(r"HD k(k\d+)", receive(client, b"MN\r\n").decode()))


class Told:
    """The keys of items whose eviction a watcher was told of."""

    def __init__(self, watcher):
        self.watcher, self.text, self.keys, self.fetched = watcher, "", set(), "no"

    def read(self):
        """Takes what is there. Returns the number of keys."""
        self.watcher.settimeout(LONG_SECONDS)
        while select.select([self.watcher], [], [], 0)[0]:
            part = self.watcher.recv(1 << 20)
            check(part, "closed")
            self.text += part.decode()
        *whole, self.text = self.text.split("\n")
        for line in whole:
            match = re.fullmatch(rf"ts=\S+ gid=\d+ type=eviction key=(k\d+) fetch={self.fetched} "
                                 r"ttl=-1 la=\d+ clsid=1 size=1000", line)
            check(match, line)
            self.keys.add(match[1])
        return len(self.keys)


if __name__ == "__main__":
    sys.exit(run([fetchers_and_mutations, slow_watchers, connections, limits, evictions]))
