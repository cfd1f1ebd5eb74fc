#!/usr/bin/env python3
"""`watch`: what clients are told of what others do.

usage: watch_test.py SERVER
"""
import os
import re
import sys
import time

from running_server import Server, check, receive, run

PROGRAM = sys.argv[1]


def lines(client, seconds=5, until=None):
    """Lines that a watcher gets until one holds `until`."""
    client.settimeout(seconds)
    text = b""
    while until is None or until not in text:
        try:
            part = client.recv(65536)
        except TimeoutError:
            break
        if not part:
            break
        text += part
    return text.decode().splitlines()


def fetchers_and_mutations():
    with Server(PROGRAM, "-o", "watcher_logbuf_size=8") as server:
        with server.connect() as watcher, server.connect() as client:
            watcher.sendall(b"watch fetchers mutations deletions\r\n")
            check(receive(watcher, b"\r\n") == b"OK\r\n")
            client.sendall(b"set a#b 5 60 2\r\nhi\r\nget a#b\r\nmg c v\r\ncas d 0 0 1 9\r\nx\r\n"
                           b"set n 0 0 1\r\n9\r\nincr n 1\r\ndelete a#b\r\n"
                           b"set big 0 0 2000000\r\n" + b"x" * 2000000 + b"\r\nget last\r\n")
            receive(client, b"large for cache\r\nEND\r\n")
            seen = []
            for at, line in enumerate(lines(watcher, until=b"key=last")):
                time_word, number, rest = line.split(" ", 2)
                check(re.fullmatch(r"ts=\d+\.\d{6}", time_word), line)
                check(number == f"gid={at + 1}", line)
                seen.append(re.sub(r"cfd=\d+", "cfd=N", rest))
            expected = [
                "type=item_get key=a%23b status=not_found clsid=0 cfd=N size=0",
                "type=item_store key=a%23b status=stored cmd=set ttl=60 clsid=1 cfd=N size=2",
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
            # What a watcher sends is dropped; it is told of nothing that it did not ask for.
            watcher.sendall(b"get a\r\nquit\r\n")
            with server.connect():
                pass
            client.sendall(b"get z\r\n")
            got = lines(watcher, until=b"key=z")
            check(len(got) == 1 and "key=z" in got[0], got)


def slow_watchers():
    """A watcher that does not read loses lines, is told how many, and goes on."""
    with Server(PROGRAM, "-o", "watcher_logbuf_size=8") as server:
        with server.connect() as watcher, server.connect() as client:
            watcher.sendall(b"watch\r\n")
            check(receive(watcher, b"\r\n") == b"OK\r\n")
            client.sendall(b"".join(b"get k%d\r\n" % i for i in range(200_000)))
            got = 0
            while got < 200_000 * len(b"END\r\n"):
                got += len(client.recv(1 << 20))
            skipped = 0
            while skipped == 0:
                client.sendall(b"get again\r\n")
                receive(client, b"END\r\n")
                skipped = sum(int(line[8:]) for line in lines(watcher, 0.2)
                              if line.startswith("skipped="))
            stats = server.ask(b"stats\r\n", b"END\r\n").decode()
            check("STAT log_watchers 1\r\n" in stats, stats)
            check(int(re.search("log_watcher_skipped (\\d+)", stats)[1]) >= skipped, stats)


def connections():
    with Server(PROGRAM) as server:
        with server.connect() as watcher:
            watcher.sendall(b"watch connevents\r\n")
            check(receive(watcher, b"\r\n") == b"OK\r\n")
            for request, reason in ((b"quit\r\n", "normal"), (b"", "normal"),
                                    (b"GET / HTTP/1.1\r\n", "error")):
                with server.connect() as client:
                    name = client.getsockname()
                    client.sendall(request)
                    if request:
                        receive(client)
                opened, closed = lines(watcher, until=b"type=conn_close")
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
        for _ in range(200):
            if b"log_watchers 0\r\n" in server.ask(b"stats\r\n", b"END\r\n"):
                break
            time.sleep(0.02)
        else:
            check(False, "watchers that closed are still counted")
        check(server.ask(b"watch nonsense\r\n", b"\r\n") == b"ERROR\r\n")
    with Server(PROGRAM, "-W") as server:
        check(server.ask(b"watch\r\n", b"\r\n")
              == b"CLIENT_ERROR watch commands not allowed\r\n")


def evictions():
    """Each item that is gone was told of."""
    if os.path.basename(PROGRAM) == "nvcached_memory":
        return "a store in memory evicts nothing"
    with Server(PROGRAM, "-m", "4") as server:
        with server.connect() as watcher, server.connect() as client:
            watcher.sendall(b"watch evictions\r\n")
            check(receive(watcher, b"\r\n") == b"OK\r\n")
            told = set()
            for batch in range(40):
                client.sendall(b"".join(b"set k%d 0 0 1000 noreply\r\n%s\r\n" % (i, b"x" * 1000)
                                        for i in range(200 * batch, 200 * batch + 200)))
                client.sendall(b"version\r\n")
                receive(client, b"\r\n")
                told |= keys_of(lines(watcher, 0.05))
            told |= keys_of(lines(watcher, 1))
            client.sendall(b"".join(b"get k%d\r\n" % i for i in range(8000)))
            answers = b""
            while answers.count(b"END\r\n") < 8000:
                answers += client.recv(1 << 20)
            kept = set(re.findall(r"VALUE (k\d+) ", answers.decode()))
            check(len(kept) < 4200, len(kept))
            check(told == {f"k{i}" for i in range(8000)} - kept, (len(told), len(kept)))
    return None


def keys_of(told):
    keys = set()
    for line in told:
        match = re.fullmatch(r"ts=\S+ gid=\d+ type=eviction key=(k\d+) fetch=no ttl=-1 la=\d+ "
                             r"clsid=1 size=1000", line)
        check(match, line)
        keys.add(match[1])
    return keys


if __name__ == "__main__":
    sys.exit(run([fetchers_and_mutations, slow_watchers, connections, limits, evictions]))
