#!/usr/bin/env python3
"""Real clients against the running server: memccapable and pymemcache, over TCP, unix socket, UDP
and TLS, with authentication and metrics. If memcached is installed, compares answers with it.

usage: clients_test.py SERVER
"""
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import running_server
from running_server import (CLOSED, LONG_SECONDS, ReadBytes, Server, check, equal, expect, receive,
                            run, socket_folder, wait_until)

PROGRAM = sys.argv[1]
LONG = b"k" * 251


def memccapable(flag):
    if shutil.which("memccapable") is None:
        return "memccapable is not installed"
    with Server(PROGRAM) as server:
        result = subprocess.run(["memccapable", "-h", "127.0.0.1", "-p", str(server.port), "-t",
                                 str(LONG_SECONDS), flag], capture_output=True, text=True,
                                timeout=2 * LONG_SECONDS, check=False)
        check("All tests passed" in result.stdout + result.stderr, result.stdout + result.stderr)
        equal(result.stdout.count("[pass]") + result.stderr.count("[pass]"), 27)


def memccapable_text():
    return memccapable("-a")


def memccapable_binary():
    return memccapable("-b")


def pymemcache_client():
    Client = running_server.pymemcache_client()
    if Client is None:
        return "pymemcache is not installed"
    with Server(PROGRAM) as server:
        client = Client(("127.0.0.1", server.port), timeout=LONG_SECONDS)
        check(client.set("key", b"value", noreply=False))
        equal(client.get("key"), b"value")
        value, cas = client.gets("key")
        equal(value, b"value")
        check(client.cas("key", b"newer", cas, noreply=False))
        check(client.cas("key", b"late", cas, noreply=False) is False)
        equal(client.set_many({f"many{i}": str(i) for i in range(200)}, noreply=False), [])
        equal(len(client.get_many([f"many{i}" for i in range(300)])), 200)
        check(client.set("number", b"9", noreply=False))
        equal(client.incr("number", 3), 12)
        equal(client.decr("number", 20), 0)
        check(client.append("key", b"+", noreply=False))
        check(client.prepend("key", b"-", noreply=False))
        equal(client.get("key"), b"-newer+")
        check(client.add("key", b"x", noreply=False) is False)
        check(client.replace("none", b"x", noreply=False) is False)
        big = bytes(range(256)) * 3000
        check(client.set("big", big, noreply=False))
        equal(client.get("big"), big)
        check(client.touch("key", 100, noreply=False))
        check(client.delete("key", noreply=False))
        check(client.delete("key", noreply=False) is False)
        client.set("short", b"x", expire=1, noreply=False)
        wait_until(lambda: client.get("short") is None, "an item of one second stays")
        equal(client.stats()[b"cmd_flush"], 0)
        check(client.flush_all(noreply=False))
        equal(client.get("many1"), None)
        check(client.version().startswith(b"1.6."))
        client.quit()
    return None


def unix_socket():
    with socket_folder() as folder:
        path = os.path.join(folder, "socket")
        with Server(PROGRAM, "-s", path) as server:
            check("TCP INET" not in server.ports, "TCP is open beside the unix socket")
            client = socket.socket(socket.AF_UNIX)
            client.connect(path)
            client.sendall(b"set a 0 0 1\r\nx\r\nget a\r\n")
            expect(client, b"STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n")
            client.close()
            equal(os.stat(path).st_mode & 0o777, 0o700)
        check(not os.path.exists(path), "the socket's file is left behind")


def udp():
    with Server(PROGRAM, "-U", "-1") as server:
        equal(server.ask(b"set a 0 0 9000\r\n" + b"x" * 9000 + b"\r\n", b"\r\n"), b"STORED\r\n")
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.settimeout(LONG_SECONDS)
        client.sendto(b"\x12\x34\0\0\0\1\0\0get a\r\n", ("127.0.0.1", server.ports["UDP INET"]))
        parts = {}
        while True:
            datagram = client.recv(65536)
            check(len(datagram) <= 1400)
            equal(datagram[:2], b"\x12\x34")
            parts[int.from_bytes(datagram[2:4], "big")] = datagram[8:]
            if len(parts) == int.from_bytes(datagram[4:6], "big"):
                break
        equal(b"".join(parts[i] for i in range(len(parts))),
              b"VALUE a 0 9000\r\n" + b"x" * 9000 + b"\r\nEND\r\n")


def udp_answers_no_garbage():
    with Server(PROGRAM, "-U", "-1") as one:
        address = ("127.0.0.1", one.ports["UDP INET"])
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.settimeout(LONG_SECONDS)
        frame = b"\0\1\0\0\0\1\0\0"
        for garbage in (b"ERROR\r\n", b"END\r\n", b"STORED\r\n", b"CLIENT_ERROR x\r\n", b"\r\n",
                        b"SERVER_ERROR x\r\n", b"\x81" + b"\0" * 23, b"get " + LONG + b"\r\n"):
            client.sendto(frame + garbage, address)
            # The answer to the next request is the first that comes.
            client.sendto(b"\0\2" + frame[2:] + b"version\r\n", address)
            answer = client.recv(65536)
            check(answer.startswith(b"\0\2\0\0\0\1\0\0VERSION"),
                  f"{garbage!r} is answered by {answer!r}")
        one.ask(b"set big 0 0 70000\r\n" + b"x" * 70000 + b"\r\n", b"\r\n")
        client.sendto(frame + b"get big\r\n", address)
        equal(client.recv(65536)[8:], b"SERVER_ERROR answer too large for UDP\r\n")


def tls():
    if shutil.which("openssl") is None:
        return "openssl is not installed"
    with tempfile.TemporaryDirectory(prefix="nvcached_test_") as folder:
        key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-keyout", key, "-out", certificate, "-subj", "/CN=localhost"],
                       check=True, capture_output=True)
        with Server(PROGRAM, "-Z", "-o", f"ssl_chain_cert={certificate},ssl_key={key}") as server:
            context = ssl.create_default_context(cafile=certificate)
            value = b"0123456789" * 90000
            with context.wrap_socket(server.connect(), server_hostname="localhost") as client:
                client.sendall(b"set a 0 0 %d\r\n" % len(value) + value + b"\r\n")
                expect(client, b"STORED\r\n")
                client.sendall(b"get a\r\n" * 5)
                expect(client, (b"VALUE a 0 %d\r\n%s\r\nEND\r\n" % (len(value), value)) * 5)
            answer = server.ask(b"set a 0 0 1\r\nx\r\n")
            check(b"STORED" not in answer and answer.endswith(CLOSED), answer)
            # A client that fails at TLS does the others no harm.
            with context.wrap_socket(server.connect(), server_hostname="localhost") as client:
                client.sendall(b"mn\r\n")
                expect(client, b"MN\r\n")
    return None


def auth_file():
    with tempfile.NamedTemporaryFile("w", prefix="nvcached_test_") as file:
        file.write("ann:secret\nbob:pass word\n")
        file.flush()
        with Server(PROGRAM, "-Y", file.name) as server:
            refused = b"CLIENT_ERROR unauthenticated\r\n"
            server.expect(b"get a\r\nmn\r\n", refused * 2)
            server.expect(b"mg a\r\nversion\r\nmn\r\n", refused * 3)
            server.expect(b"set a 0 0 9\r\nann wrong\r\nget a\r\nmn\r\n",
                          b"CLIENT_ERROR authentication failure\r\n" + refused * 2)
            server.expect(b"set a 0 0 10\r\nann secret\r\nget a\r\nmn\r\n",
                          b"STORED\r\nEND\r\nMN\r\n")
            server.expect(b"set a 0 0 13\r\nbob pass word\r\nmn\r\n", b"STORED\r\nMN\r\n")
            server.expect(b"\x80\x0a" + bytes(22), CLOSED)
            server.expect(b"get a" + b" " * 3000, CLOSED)


def metrics():
    with Server(PROGRAM, "--metrics-port", "-1") as server:
        server.ask(b"set a 0 0 1\r\nx\r\nget a b\r\n", b"END\r\n")
        address = f"http://127.0.0.1:{server.ports['METRICS']}"
        text = urllib.request.urlopen(address + "/metrics", timeout=LONG_SECONDS).read().decode()
        for line in ("nvcached_get_hits_total 1", "nvcached_get_misses_total 1",
                     "nvcached_cmd_set_total 1", "nvcached_items 1"):
            check(line in text.splitlines(), f"{line} is not in {text}")
        try:
            urllib.request.urlopen(address + "/etc/passwd", timeout=LONG_SECONDS)
            raise AssertionError("another path was answered")
        except urllib.error.HTTPError as error:
            equal(error.code, 404)


def ends_in_order():
    with Server(PROGRAM, "-A") as server:
        with server.connect() as client:
            client.sendall(b"set a 0 0 1\r\nx\r\nshutdown\r\n")
            receive(client)
        server.wait()
        code, log = server.stop()
    equal(code, 0)
    check("shutting down" in log and "1 items kept" in log, log)


def log_that_cannot_be_written():
    reader, writer = os.pipe()
    os.close(reader)
    for name, log in (("/dev/full", open("/dev/full", "wb")), ("no reader", open(writer, "wb"))):
        with log, Server(PROGRAM, "-A", "-vv", stderr=log) as server:
            server.expect(b"verbosity 2\r\nset a 0 0 1\r\nx\r\nget a\r\n",
                          b"OK\r\nSTORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n")
            code, _ = server.stop()
            equal((name, code), (name, 0))


def delayed_flush():
    with Server(PROGRAM) as server:
        server.expect(b"set a 0 0 1\r\nx\r\nflush_all 1000\r\nget a\r\n",
                      b"STORED\r\nOK\r\nVALUE a 0 1\r\nx\r\nEND\r\n")
        server.expect(b"flush_all 1\r\n", b"OK\r\n")
        wait_until(lambda: server.ask(b"get a\r\n", b"END\r\n") == b"END\r\n",
                   "the flush does not come")


def binary(opcode, extras=b"", key=b"", value=b"", opaque=7):
    body = extras + key + value
    lengths = len(key), len(extras), 0, 0, len(body)
    return struct.pack(">BBHBBHIIQ", 0x80, opcode, *lengths, opaque, 0) + body


# Requests whose answers must equal memcached's. Each runs on its own connection, all on one pair
# of servers. `alike` hides the differences that have a good reason.
REQUESTS = [
    b"set a 5 0 2\r\nhi\r\nget a\r\ngets a\r\nmg a s v t f k q h Oabc\r\nmg a\r\nmg a q\r\nmn\r\n",
    b"mg nope q\r\nmg nope k Oa\r\nmn\r\n",
    b"mg viv N30 v t\r\nmg viv N30 v\r\nms viv 1 T0\r\nx\r\nmg viv v\r\n",
    b"set r 0 10 1\r\nx\r\nmg r R30 v\r\nmg r R30 v\r\nmg r v\r\n",
    b"set st 0 0 1\r\nx\r\nmd st I T30\r\nmg st v t s\r\nmg st v\r\nms st 1 C1 I\r\ny\r\n"
    b"mg st v\r\nms st 1\r\nz\r\nmg st v\r\n",
    b"ms a 2 T0 F5 k Ozz\r\nab\r\nmg a f v\r\nms a 1 ME k Oz\r\nx\r\nms a 2 MA\r\ncd\r\n"
    b"ms a 2 MP\r\nef\r\nmg a v\r\nms a 1 MR q\r\nz\r\nms zzz 1 MR q\r\nz\r\nms a 1 MX\r\nx\r\n"
    b"ms a 1 Mset\r\nx\r\nmn\r\n",
    b"ms a 2 q k\r\nab\r\nmd a q\r\nmd a q\r\nmd a k Oz\r\nmn\r\n",
    b"set n 0 0 2\r\n10\r\nma n v t\r\nma n D5 v\r\nma n MD D100 v\r\nma n q\r\nma nn\r\n"
    b"ma nn N60 J7 v t\r\nma nn q v\r\nma nn M+ Dx\r\nma nn Mq\r\nma nnn q k Oz\r\n"
    b"ma nn k Oz\r\nset t 0 0 1\r\nx\r\nma t\r\n",
    b"mg Zm9v b k v\r\nms Zm9v 2 b k\r\nhi\r\nmg Zm9v b k v\r\nget foo\r\n",
    b"get " + LONG + b"\r\n",
    b"set a 0 0 2000000\r\n" + b"x" * 2000000 + b"\r\nmn\r\nget a\r\n",
    b"ms a 2000000\r\n" + b"x" * 2000000 + b"\r\nmn\r\n",
    b"set a 0 0 2\r\nhix\r\nmn\r\n", b"set a 0 0 2\r\nhixxxx\r\nmn\r\n", b"x" * 3000,
    b"x" * 2000 + b"\r\nmn\r\n", b"delete " + LONG + b"\r\n", b"incr " + LONG + b" 1\r\n",
    b"touch " + LONG + b" 1\r\n", b"mg " + LONG + b" v\r\n",
    b"set a 0 0 -1\r\n", b"set a 0 0\r\n",
    b"set a 0 0 3\r\nabc\r\nincr a 1\r\nset a 0 0 21\r\n111111111111111111111\r\nincr a 1\r\n"
    b"set a 0 0 20\r\n18446744073709551615\r\nincr a 1\r\nincr a -1\r\nincr a x\r\n",
    b"gat\r\n", b"gat abc a\r\n", b"gat 0\r\n", b"touch a abc\r\n", b"touch a\r\n",
    b"set a 0 -1 1\r\nx\r\nget a\r\n", b"set g 3 0 1\r\nx\r\ngat 100 g nope\r\nmg g t\r\n",
    b"ms a abc\r\nmn\r\n", b"ms a 2 Tabc\r\nhi\r\nmn\r\n", b"ms a 2 Cx\r\nhi\r\nmn\r\n",
    b"ms a 2 z\r\nhi\r\nmn\r\n", b"ms a 2\r\nhixx\r\nmn\r\n", b"mg a O" + b"x" * 33 + b"\r\n",
    b"mg\r\n", b"ma\r\n", b"md\r\n", b"ms\r\n", b"me\r\n", b"mg a T\r\nmg a Tx\r\nmg a N\r\n",
    b"delete a\r\nmd a C1\r\nset a 0 0 1\r\nx\r\nmd a C1\r\nms a 1 C1\r\nx\r\n"
    b"ms nokey 1 C1\r\nx\r\nma a C1\r\nmd a C0\r\n",
    b"set c 0 0 1\r\n1\r\nms c 1 C18446744073709551615 I\r\n2\r\nmg c v\r\n",
    b"set a 0 0 1\r\nx\r\nget  a\r\n get a\r\nGET a\r\nget a\nget a\tb\r\n", b"\r\n", b"\n",
    b"set n 0 0 1\r\n1\r\nappend n 0 0 1\r\nx\r\nprepend nope 0 0 1\r\nx\r\n",
    b"verbosity a b c\r\n", b"verbosity x\r\n", b"verbosity\r\n", b"verbosity 0\r\n",
    b"add q 0 0 1 noreply\r\nx\r\nset q 0 0 1 noreply\r\nxy\r\nmn\r\n",
    b"set a 0 0 1 bogus\r\nx\r\n", b"get a a a\r\nget a " + LONG + b" a\r\n",
    b"stats detail on\r\nset fo:a 0 0 1\r\nx\r\nget fo:a fo:b\r\ndelete fo:a\r\n"
    b"stats detail dump\r\nstats detail off\r\nstats detail\r\n",
    b"stats reset\r\n", b"stats bogus\r\n", b"mg n E5 b\r\n",
    b"flush_all 1 2 3\r\n", b"flush_all abc\r\n", b"shutdown\r\n", b"mn foo\r\n",
    b"ms foo 2 b\r\nhi\r\nmn\r\n", b"ms a S2\r\nhi\r\nmn\r\n", b"mg a v L1 P2\r\n",
    b"md a x\r\n", b"ma a x\r\n", b"decr nope 1\r\ntouch nope 1\r\ndelete nope\r\n",
    b"delete a 0\r\n", b"delete a 5\r\n", b"delete\r\n", b"get\r\n", b"gets\r\n", b"incr\r\n",
    b"get " + b"a " * 3000 + b"\r\n", b"cas a 0 0 1 99999\r\nx\r\ncas none 0 0 1 1\r\nx\r\n",
    b"set k" + b"x" * 249 + b" 0 0 1\r\ny\r\nget k" + b"x" * 249 + b"\r\n",
    b"set e 0 0 0\r\n\r\nget e\r\nflush_all\r\nget e\r\n", b"quit\r\n", b"quit now\r\nmn\r\n",
    # noreply silences errors, too.
    b"delete a 10 noreply\r\nmn\r\n", b"incr a abc noreply\r\nmn\r\n", b"incr a noreply\r\nmn\r\n",
    b"set a 0 0 -1 noreply\r\nmn\r\n", b"set a 0 0 2 noreply\r\nxyz\r\nmn\r\n",
    b"touch a abc noreply\r\nmn\r\n",
    b"set a 0 0 2000000 noreply\r\n" + b"x" * 2000000 + b"\r\nmn\r\n",
    b"flush_all abc noreply\r\nmn\r\n", b"verbosity a noreply\r\nmn\r\n",
    b"verbosity noreply\r\nmn\r\n",
    b"delete a b c noreply\r\nmn\r\n", 
    b"append nope 0 0 1 noreply\r\nx\r\nmn\r\n",
    b"set a 0 0 3\r\n 12\r\nincr a 1\r\n", b"set a 0 0 3\r\n12 \r\nincr a 1\r\n",
    b"set a 0 0 3\r\n+12\r\nincr a 1\r\n", b"set a 0 0 2\r\n-1\r\nincr a 1\r\n",
    b"set a 0 0 1048400\r\n" + b"x" * 1048400 + b"\r\nappend a 0 0 1000\r\n" + b"x" * 1000
    + b"\r\nprepend a 0 0 1000\r\n" + b"x" * 1000 + b"\r\nms a 1000 MA\r\n" + b"x" * 1000 + b"\r\n",
    b"shutdown foo\r\n", b"slabs\r\n", b"slabs foo\r\n", b"slabs automove\r\n",
    b"slabs automove 1\r\n", b"slabs reassign 1\r\n", b"lru\r\n", b"lru foo\r\n",
    b"lru mode flat\r\n",
    b"lru mode bad\r\n", b"lru tune 10 25 0.1 2.0\r\n", b"lru tune 10\r\n", b"lru temp_ttl 10\r\n",
    b"lru temp_ttl\r\n", b"lru_crawler\r\n", b"lru_crawler foo\r\n", b"lru_crawler crawl\r\n",
    b"lru_crawler sleep 100\r\n", b"lru_crawler sleep\r\n", b"lru_crawler tocrawl 10\r\n",
    b"lru_crawler mgdump all\r\n", b"lru_crawler disable\r\n",
    b"GET / HTTP/1.0\r\nset a 0 0 1\r\nx\r\n", b"POST /set HTTP/1.1\r\nset a 0 0 1\r\nx\r\n",
    b"get / HTTP\r\n", b"post\r\n", b"incr a 1 2 3 4\r\n",
    # A stale value keeps its time of expiry.
    b"set s 0 100 1\r\nx\r\nset s 0 100 1\r\ny\r\nms s 1 C1 I T900\r\nz\r\nmg s v t\r\n",
    # Binary: an unknown opcode with an empty frame; a value that is too large; expiry past 2^31.
    binary(0x1b), binary(0x01, b"\0" * 8, b"k", b"v")
    + binary(0x01, b"\0" * 8, b"k", b"x" * 2000000) + binary(0x00, b"", b"k") + binary(0x0a),
    binary(0x01, b"\0\0\0\0\x80\0\0\1", b"k", b"v") + binary(0x00, b"", b"k"),
    binary(0x01, b"\0\0\0\0\xff\xff\xff\xff", b"k", b"v") + binary(0x00, b"", b"k"),
    binary(0x1c, b"\x80\0\0\1", b"k") + binary(0x00, b"", b"k"),
    binary(0x05, b"\0" * 7 + b"\1" + b"\0" * 8 + b"\x80\0\0\1", b"n") + binary(0x00, b"", b"n"),
]


# They end within a value: nothing is answered before all of it has arrived.
UNFINISHED_REQUESTS = [
    b"set a 0 0 2000000\r\n" + b"x" * 1000000, b"ms a 2000000\r\n" + b"x" * 1000000,
    binary(0x01, b"\0" * 8, b"k", b"x" * 1000000)[:900000],
]


def alike(answer):
    answer = re.sub(rb"VERSION \S+", b"VERSION V", answer)
    if answer.startswith(b"\x81"):  # a binary answer: without the cas of its 24-byte headers
        at, plain = 0, b""
        while len(answer) - at >= 24:
            body = struct.unpack(">I", answer[at + 8:at + 12])[0]
            plain += answer[at:at + 16] + answer[at + 24:at + 24 + body]
            at += 24 + body
        return plain + answer[at:]
    # A second may begin between a command and the next: up to a multiple of ten seconds.
    answer = re.sub(rb" t(\d+)\b", lambda match: b" t%d" % (-(-int(match[1]) // 10) * 10), answer)
    return re.sub(rb"(VALUE \S+ \d+ \d+) \d+", rb"\1 CAS", answer)


# The last request's answer shows that all before it is answered.
LAST_REQUEST, LAST_ANSWER = b"ms zzlast 0 Olast\r\n\r\n", b"HD Olast\r\n"
LAST_BINARY_REQUEST = binary(0x0a, opaque=0x6c617374)
LAST_BINARY_ANSWER = b"\x81" + LAST_BINARY_REQUEST[1:]


def answer_of(server, request):
    last, end = LAST_REQUEST, LAST_ANSWER
    if request[0] == 0x80:
        last, end = LAST_BINARY_REQUEST, LAST_BINARY_ANSWER
    elif not request.endswith(b"\n"):
        last, end = b"", None  # too long a line: the server closes
    return alike(server.ask(request + last, end))


def early_answer_of(server, request):
    """Returns once the server has read all of an unfinished request. Its only worker then
    answers another client."""
    read = ReadBytes(server)
    with server.connect() as client:
        client.sendall(request)
        read.wait_for(len(request))
        read.close()
        client.setblocking(False)
        try:
            return client.recv(1 << 20) or CLOSED
        except BlockingIOError:
            return b""


def same_answers_as_memcached():
    memcached = running_server.peer("memcached")
    if memcached is None:
        return "memcached cannot be had"
    different = []

    def compare(ask, ours, theirs, request):
        got, wanted = at_once.map(ask, (ours, theirs), (request, request))
        if got != wanted:
            different.append(f"{request[:120]!r}:\n   got    {got[:300]!r}\n"
                             f"   wanted {wanted[:300]!r}")

    with ThreadPoolExecutor(2) as at_once:
        with Server(PROGRAM) as ours, Server(memcached) as theirs:
            for request in REQUESTS:
                compare(answer_of, ours, theirs, request)
        with Server(PROGRAM, "-t", "1") as ours, Server(memcached, "-t", "1") as theirs:
            for request in UNFINISHED_REQUESTS:
                compare(early_answer_of, ours, theirs, request)
    if different:
        print("\n".join(different))
    compared = len(REQUESTS) + len(UNFINISHED_REQUESTS)
    check(not different, f"{len(different)} of {compared} requests are answered differently")
    return None


if __name__ == "__main__":
    sys.exit(run([memccapable_text, memccapable_binary, pymemcache_client, unix_socket, udp,
                  udp_answers_no_garbage, tls,
                  auth_file, metrics, ends_in_order, log_that_cannot_be_written, delayed_flush,
                  same_answers_as_memcached]))
