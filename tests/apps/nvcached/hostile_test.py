#!/usr/bin/env python3
"""Hostile clients over real sockets: each gets an error or is closed, memory stays bounded, and
another client is served at the same time.

usage: hostile_test.py SERVER
The seed of the random bytes is printed; NVCACHE_TEST_SEED replays it.
"""
import os
import random
import re
import resource
import socket
import struct
import sys
import time

from running_server import (CLOSED, LONG_SECONDS, ReadBytes, Server, check, equal, expect, receive,
                            run, wait_until)

PROGRAM = sys.argv[1]
LONG_KEY = b"k" * 251
SEED = int(os.environ.get("NVCACHE_TEST_SEED") or time.time_ns() % (1 << 32))


def others_are_served(server):
    server.expect(b"set other 0 0 2\r\nhi\r\nget other\r\n",
                  b"STORED\r\nVALUE other 0 2\r\nhi\r\nEND\r\n")


def send_all_or_closed(client, data):
    try:
        client.sendall(data)
        return True
    except OSError:
        return False


def endless_line():
    with Server(PROGRAM) as server:
        for start in (b"", b"set ", b"get", b"stats ", b"mg ", b"\x80" * 3, b"ms a "):
            with server.connect() as client:
                for _ in range(2000):
                    if not send_all_or_closed(client, (start + b"y" * 65536)[:65536]):
                        break
                    start = b""
                else:
                    raise AssertionError("128 MiB without a newline were taken")
        others_are_served(server)


def endless_get():
    """Any number of keys may follow a get; they must not pile up in memory."""
    with Server(PROGRAM) as server:
        before = server.anonymous_kb()
        with server.connect() as client:
            client.sendall(b"get")
            for _ in range(400):
                client.sendall(b" key" * 16384)
            client.sendall(b"\r\nmn\r\n")
            expect(client, b"END\r\nMN\r\n")
        check(server.anonymous_kb() - before < 8192, "memory grew with the line")
        others_are_served(server)


def slow_reader():
    """Asks for far more than it reads."""
    with Server(PROGRAM) as server:
        server.ask(b"set big 0 0 1000000\r\n" + b"x" * 1000000 + b"\r\n", b"STORED\r\n")
        before = server.anonymous_kb()
        clients = []
        for request in (b"get big\r\n" * 3000, b"get" + b" big" * 3000 + b"\r\n",
                        b"\x80\0\0\3\0\0\0\0\0\0\0\3" + bytes(12) + b"big"):
            client = server.connect()
            # Long enough to fill what the kernel and the server take; how full decides nothing.
            client.settimeout(1)
            try:
                for _ in range(200):
                    client.sendall(request)
            except TimeoutError:
                pass
            clients.append(client)
        grown_kb = server.anonymous_kb() - before
        check(grown_kb < 32768, f"grew by {grown_kb} kB")
        others_are_served(server)
        # The first of them begins to read, and gets all of it in order.
        record = b"VALUE big 0 1000000\r\n" + b"x" * 1000000 + b"\r\nEND\r\n"
        for _ in range(20):
            expect(clients[0], record)
        for client in clients:
            client.close()
        others_are_served(server)


def values_that_never_come():
    """A client that only announces a value must not cost the memory for it."""
    with Server(PROGRAM, "-I", "16m", "-m", "256") as server:
        read = ReadBytes(server)
        before = server.anonymous_kb()
        clients = []
        request = b"set a 0 0 16000000\r\nx"
        for _ in range(300):
            client = server.connect()
            client.sendall(request)
            clients.append(client)
        read.wait_for(len(clients) * len(request))
        read.close()
        others_are_served(server)
        grown_kb = server.anonymous_kb() - before
        check(grown_kb < 16384, f"grew by {grown_kb} kB")
        for client in clients:
            client.close()


def too_large():
    with Server(PROGRAM) as server:
        with server.connect() as client:
            client.sendall(b"set a 0 0 1\r\nx\r\nset a 0 0 30000000\r\n")
            for _ in range(30):
                client.sendall(b"y" * 1000000)
            client.sendall(b"\r\nget a\r\n")
            expect(client, b"STORED\r\nSERVER_ERROR object too large for cache\r\nEND\r\n")
        header = struct.pack(">BBHBBHIIQ", 0x80, 1, 1, 8, 0, 0, 9 + 5000000, 7, 0)
        with server.connect() as client:
            client.sendall(header + bytes(8) + b"a" + b"y" * 5000000)
            client.sendall(b"\x80\x0a" + bytes(22))
            answer = receive(client, b"\x81\x0a" + bytes(22))
        check(answer[6:8] == b"\0\3", answer[:24])
        others_are_served(server)


def bad_frames():
    random.seed(SEED)
    good = struct.pack(">BBHBBHIIQ", 0x80, 0, 1, 0, 0, 0, 1, 0, 0) + b"k"
    with Server(PROGRAM) as server:
        for key, extras, body in ((0, 0, 0), (65535, 0, 65535), (1, 255, 0), (10, 4, 3),
                                  (1, 0, 0xffffffff), (300, 0, 300)):
            for opcode in range(256):
                frame = struct.pack(">BBHBBHIIQ", 0x80, opcode, key, extras, 0, 0, body, 0, 0)
                with server.connect() as client:
                    send_all_or_closed(client, frame + b"z" * min(body, 1000))
        for _ in range(1000):
            frame = bytearray(good * 3)
            for _ in range(random.randrange(1, 8)):
                frame[random.randrange(len(frame))] = random.randrange(256)
            with server.connect() as client:
                send_all_or_closed(client, bytes(frame[:random.randrange(1, len(frame) + 1)]))
        others_are_served(server)


def random_bytes():
    random.seed(SEED)
    words = [b"get", b"set", b"mg", b"ms", b"ma", b"md", b"gat", b" ", b"\r\n", b"\n", b"0", b"-1",
             b"99999999999999999999", b"noreply", b"k", b"v", b"T", b"C1", b"S9", b"stats",
             b"\0", b"\x80", b"b", b"N30", b"MA", b"incr", b"touch",
             b"1"]  # no flush_all: a delayed one would strike a later test
    with Server(PROGRAM) as server, server.connect() as watcher:
        def connections():
            watcher.sendall(b"stats\r\n")
            return int(re.search(rb"STAT curr_connections (\d+)",
                                 receive(watcher, b"END\r\n"))[1])

        for i in range(1500):
            # One thousand and more at a time are refused, and a busy machine closes them late.
            if i % 200 == 0:
                wait_until(lambda: connections() < 100, "the server closes no connection")
            data = b"".join(random.choice(words) + random.choice([b" ", b"", b"\r\n"])
                            for _ in range(random.randrange(1, 60)))
            with server.connect() as client:
                send_all_or_closed(client, data)
        others_are_served(server)


# A refused storage command takes its value along, as with newer memcached: 1.6.18 runs it as
# commands.
BAD = b"CLIENT_ERROR bad command line format\r\n"
REFUSED_VALUES = [
    (b"set %s 0 0 2\r\nhi\r\nmn\r\n" % LONG_KEY, BAD + b"MN\r\n"),
    (b"ms %s 2\r\nhi\r\nmn\r\n" % LONG_KEY, BAD + b"MN\r\n"),
    (b"set a abc 0 2\r\nhi\r\nset a 0 abc 2\r\nhi\r\nmn\r\n", BAD * 2 + b"MN\r\n"),
    (b"set a -1 0 2\r\nhi\r\nmn\r\n", BAD + b"MN\r\n"),
    (b"set a 0 0 2 noreply\r\nmn\r\nset a 0 x 4 noreply\r\nmn\r\n\r\nmn\r\n", b"MN\r\n"),
    (b"cas a 0 0 2 x\r\nmn\r\nmn\r\n", BAD + b"MN\r\n"),
    (b"cas a 0 0 2 x noreply\r\nmn\r\nmn\r\n", b"MN\r\n"),
    (b"cas a 0 0 2\r\nmn\r\nmn\r\n", b"ERROR\r\nMN\r\n"),
    *((b"set victim 0 0 1\r\nv\r\n%s 15\r\ndelete victim\r\n\r\nget victim\r\n" % line,
       b"STORED\r\n%sVALUE victim 0 1\r\nv\r\nEND\r\n" % BAD)
      for line in (b"set k 4294967296 0", b"set k x 0", b"add k 0 abc",
                   b"replace %s 0 0" % LONG_KEY, b"append k 0 99999999999999999999",
                   b"ms " + LONG_KEY)),
]


def values_of_refused_commands_are_no_commands():
    with Server(PROGRAM) as server:
        for request, answer in REFUSED_VALUES:
            with server.connect() as client:
                client.sendall(request)
                expect(client, answer)


def half_requests():
    request = b"set a 0 0 5\r\nhello\r\nget a\r\nmg a v\r\nincr a 1\r\n"
    with Server(PROGRAM) as server:
        with server.connect() as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            read = ReadBytes(server)
            for i in range(len(request)):
                client.sendall(request[i:i + 1])
                read.wait_for(i + 1)
            read.close()
            expect(client, b"STORED\r\nVALUE a 0 5\r\nhello\r\nEND\r\nVA 5\r\nhello\r\n"
                   b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n")
        for i in range(len(request)):
            with server.connect() as client:
                client.sendall(request[:i])
        others_are_served(server)


def idle_connections():
    count = 3000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count + 200:
        return f"only {hard} files may be open"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 200), hard))
    # GCC 14's AddressSanitizer keeps what functions had on their stacks, some MB a thread.
    options = os.environ.get("ASAN_OPTIONS", "") + ":detect_stack_use_after_return=0"
    with Server(PROGRAM, "-c", str(count + 100),
                environment={"ASAN_OPTIONS": options.lstrip(":")}) as server:
        before = server.anonymous_kb()
        clients = [server.connect() for _ in range(count)]
        for client in clients[::100]:
            client.sendall(b"mn\r\n")
            expect(client, b"MN\r\n")
        # ThreadSanitizer has a shadow of everything.
        most_bytes = 8192 if "/tsan/" in os.path.abspath(PROGRAM) else 4096
        each_bytes = (server.anonymous_kb() - before) * 1024 / count
        check(each_bytes < most_bytes, f"{each_bytes:.0f} bytes each")
        others_are_served(server)
        for client in clients:
            client.close()
    return None


def too_many_connections():
    with Server(PROGRAM, "-c", "10") as server:
        clients = [server.connect() for _ in range(10)]
        for client in clients:
            client.sendall(b"mn\r\n")
            expect(client, b"MN\r\n")
        with server.connect() as client:
            expect(client, b"ERROR Too many open connections\r\n" + CLOSED)
        clients.pop().close()
        wait_until(lambda: server.ask(b"mn\r\n", b"MN\r\n") == b"MN\r\n",
                   "the place of a closed connection stays taken")
        for client in clients:
            client.close()


def idle_timeout():
    """A slow machine may be late with the requests of the others, too: they try again."""
    with Server(PROGRAM, "-o", "idle_timeout=1") as server:
        with server.connect() as client:
            expect(client, CLOSED)
        answers = []

        def ask(request, end):
            answers.append(server.ask(request, end))
            return answers[-1].endswith(end)

        wait_until(lambda: ask(b"mn\r\n", b"MN\r\n"), "others are not served")
        wait_until(lambda: ask(b"stats\r\n", b"END\r\n"), "others are not served")
        kicks = int(re.search(rb"STAT idle_kicks (\d+)", answers[-1])[1])
        check(1 <= kicks <= 1 + len(answers), (kicks, answers))


def refused_options():
    for options in (["-o", "nonsense=1"], ["-p", "70000"], ["-t", "0"], ["-I", "1"], ["-S"],
                    ["--nonsense"], ["stray"], ["-Z"], ["-Y", "/nonexistent"], ["-B", "telnet"],
                    ["-p"]):
        try:
            with Server(PROGRAM, *options, port=False):
                raise AssertionError(f"{options} were taken")
        except RuntimeError as error:
            check("ended with 64" in str(error), error)


def no_dump_over_udp():
    if os.path.basename(PROGRAM) == "nvcached_memory":
        return "a dump of a store in memory is one turn"
    with Server(PROGRAM, "-m", "8", "-U", "-1") as server:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(LONG_SECONDS)
            client.connect(("127.0.0.1", server.ports["UDP INET"]))
            for request in (b"lru_crawler metadump all\r\n", b"stats cachedump 1 0\r\n"):
                client.send(b"\0\1\0\0\0\1\0\0" + request)
                # The answer to the next request is the first that comes.
                client.send(b"\0\2\0\0\0\1\0\0version\r\n")
                answer = client.recv(1000)
                check(answer.startswith(b"\0\2\0\0\0\1\0\0VERSION"), (request, answer))
    return None


def datagrams_have_their_own_thread():
    """The thread that accepts clients does nothing for them: it wakes once a second. A thread that
    answered them would be switched to for each, because the client waits for each answer."""
    datagrams = 5000
    with Server(PROGRAM, "-m", "8", "-U", "-1") as server:
        server.expect(b"mn\r\n", b"MN\r\n")  # a thread that has worked has its name
        before = switches(server, "nvcached accept")
        began = time.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(LONG_SECONDS)
            client.connect(("127.0.0.1", server.ports["UDP INET"]))
            for _ in range(datagrams):
                client.send(b"\0\1\0\0\0\1\0\0get a\r\n")
                equal(client.recv(1000)[8:], b"END\r\n")
        seconds = time.monotonic() - began
        accept = switches(server, "nvcached accept") - before
        check(accept < datagrams // 10 + 5 * seconds, (accept, seconds))
        check(switches(server, "nvcached udp") > datagrams // 10 + 5 * seconds, "no thread for UDP")


def switches(server, name):
    """How often the server's thread of that name gave up its processor or lost it."""
    tasks = f"/proc/{server.process.pid}/task"
    for task in os.listdir(tasks):
        with open(f"{tasks}/{task}/status", encoding="ascii") as file:
            lines = dict(line.strip().split(":", 1) for line in file)
        if lines["Name"].strip() == name:
            return (int(lines["voluntary_ctxt_switches"])
                    + int(lines["nonvoluntary_ctxt_switches"]))
    raise AssertionError(f"no thread is called {name}")


if __name__ == "__main__":
    print(f"seed {SEED}")
    sys.exit(run([endless_line, endless_get, slow_reader, values_that_never_come, too_large,
                  bad_frames, random_bytes, half_requests,
                  values_of_refused_commands_are_no_commands, idle_connections,
                  too_many_connections, idle_timeout, refused_options, no_dump_over_udp,
                  datagrams_have_their_own_thread]))
