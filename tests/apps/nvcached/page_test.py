#!/usr/bin/env python3
"""The metrics port: its page, what the page polls, the headers, hostile clients and keys, and a
start that takes long. (page_in_browser_test.py: what a browser makes of it.)

usage: page_test.py SERVER [SLOW_SYNC]

SLOW_SYNC is a library that is preloaded to hold syncs; without it no start takes long.
"""
import base64
import http.client
import json
import os
import re
import socket
import struct
import sys
import tempfile

from running_server import (LONG_SECONDS, Server, check, equal, fill, free_port, receive, run, send,
                            stats, wait_until)

PROGRAM = sys.argv[1]
SLOW_SYNC = sys.argv[2] if len(sys.argv) > 2 else None
PARTS = {"/": "text/html", "/page.css": "text/css", "/draw.js": "text/javascript",
         "/page.js": "text/javascript", "/icon.svg": "image/svg+xml"}
DATA = {"/status.json": "application/json", "/history.json": "application/json",
        "/metrics": "text/plain"}
MOST_PAGE_BYTES = 60_000


def ask(port, path="/", method="GET", body=None, **headers):
    """The answer and its text."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONG_SECONDS)
    connection.request(method, path, body=body,
                       headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def status_of(port):
    answer, text = ask(port, "/status.json")
    equal(answer.status, 200)
    return json.loads(text)


def by_name(status, name):
    return {row[name]: row["value"] for row in status["rows"] if name in row}


def metrics_server(*options, **more):
    return Server(PROGRAM, "-m", "16", "--metrics-port", "-1", *options, **more)


def check_headers(answer):
    policy = answer.getheader("Content-Security-Policy")
    check(policy.startswith("default-src 'none';"), policy)
    for origin in ("http", "*", "unsafe", "data:"):
        check(origin not in policy, policy)
    equal(answer.getheader("X-Content-Type-Options"), "nosniff")
    equal(answer.getheader("Cache-Control"), "no-store")
    equal(answer.getheader("Cross-Origin-Resource-Policy"), "same-origin")
    for name, _ in answer.getheaders():
        check(not name.lower().startswith("access-control-"), name)


def the_page_needs_nothing_else():
    with metrics_server() as server:
        port = server.ports["METRICS"]
        all_bytes = 0
        for path, kind in {**PARTS, **DATA}.items():
            answer, text = ask(port, path)
            equal(answer.status, 200)
            check(answer.getheader("Content-Type").startswith(kind), answer.getheaders())
            check_headers(answer)
            head, nothing = ask(port, path, "HEAD")
            equal((head.status, nothing), (200, ""))
            check_headers(head)
            if path in PARTS:
                all_bytes += len(text)
                equal(head.getheader("Content-Length"), answer.getheader("Content-Length"))
                # The name of SVG's namespace is an address that nobody asks for.
                check("//" not in re.sub("http://www.w3.org/2000/svg|// ", "", text), path)
                for written in ("innerHTML", "outerHTML", "document.write", "eval("):
                    check(written not in text, f"{path} has {written}")
        check(all_bytes < MOST_PAGE_BYTES, all_bytes)


def json_says_what_stats_says():
    with metrics_server() as server:
        port = server.ports["METRICS"]
        fill(server, 100, 100)
        server.ask(b"get k1 k2 none\r\ndelete k3\r\nincr none 1\r\n", b"NOT_FOUND\r\n")
        status = status_of(port)
        equal(status["state"], "serving")
        told = stats(server)
        rows = by_name(status, "stat")
        # These go on between the two.
        moving = {"time", "uptime", "rusage_user", "rusage_system", "bytes_read", "bytes_written",
                  "total_connections", "curr_connections", "connection_structures", "buffer_bytes"}
        equal(set(rows), set(told))
        for name in set(rows) - moving:
            value = rows[name]
            expected = told[name].replace("%20", " ")
            if isinstance(value, float):
                value = f"{value:.6f}"
            equal((name, str(value)), (name, expected))
        equal((rows["get_hits"], rows["get_misses"], rows["curr_items"]), (2, 1, 99))
        # And in Prometheus' text.
        text = ask(port, "/metrics")[1]
        metrics = by_name(status, "metric")
        names = re.findall(r"^# TYPE nvcached_(\S+) ", text, re.M)
        equal(names, list(metrics))
        for name in ("get_hits_total", "cmd_set_total", "items", "data_bytes"):
            check(f"\nnvcached_{name} {metrics[name]}\n" in text, name)
        # A reset by a client stays.
        server.ask(b"stats reset\r\n", b"RESET\r\n")
        equal(by_name(status_of(port), "stat")["get_hits"], 2)
        # A point of the charts comes within a second of the start.
        points = wait_until(lambda: json.loads(ask(port, "/history.json")[1])["points"], "no point")
        check({"get_hits_total", "request_seconds", "items"} <= set(points[0]), points[0])


def a_sample_is_timed():
    requests = 64 * 400
    with metrics_server("-t", "2") as server, server.connect() as client:
        port = server.ports["METRICS"]
        batch = b"get a\r\nset b 0 0 1\r\nx\r\n" * 100
        for _ in range(requests // 200):
            send(client, batch)
            receive_all(client, len(b"END\r\nSTORED\r\n") * 100)
        status = status_of(port)
        took = by_name(status, "metric")["request_seconds"]
        text = ask(port, "/metrics")[1]
        check("# TYPE nvcached_request_seconds histogram\n" in text, text)
        for kind in ("get", "set"):
            samples = sum(took[kind]["counts"])
            # Of 12,800 requests that alternate 200 on average, with a deviation of 11.
            check(100 < samples < 300, f"{samples} samples of {kind}")
            check(0 < took[kind]["sum_ns"] < samples * 1e9, took[kind])
            counts = [int(count) for count in re.findall(
                rf'^nvcached_request_seconds_bucket{{command="{kind}",le="[^"]+"}} (\d+)$', text,
                re.M)]
            equal(len(counts), len(status["latency_bounds_ns"]) + 1)
            equal(counts, sorted(counts))
            equal(counts[-1], samples)
            check(f'nvcached_request_seconds_count{{command="{kind}"}} {samples}\n' in text, text)


def receive_all(client, size):
    left = size
    while left > 0:
        left -= len(client.recv(left))


def top_prefixes():
    with metrics_server() as server, server.connect() as client:
        port = server.ports["METRICS"]
        for i in range(300):
            keys = [b"user:%d" % i] * 60 + [b"page:%d" % i] * 25 + [b"plain%d" % i] * 10
            keys += [b"rare%d:x" % (i * 5 + k) for k in range(5)]
            request = b"".join(b"get %s\r\n" % key for key in keys)
            send(client, request)
            receive_all(client, len(b"END\r\n") * len(keys))
        prefixes = status_of(port)["prefixes"]
        samples = prefixes["samples"]
        check(300 < samples < 650, f"{samples} samples of 30,000 keys")
        equal([each["prefix"] for each in prefixes["top"][:2]], ["user", "page"])
        for each, share in zip(prefixes["top"], (0.6, 0.25)):
            check(abs(each["samples"] / samples - share) < 0.12, f"{each} of {samples}")
            equal(each["misses"], each["samples"] - each["error"])
        check(abs(prefixes["without_prefix"] / samples - 0.1) < 0.08, prefixes)
        equal(len(prefixes["top"]), 20)


def binary_get(key):
    return struct.pack(">BBHBBHIIQ", 0x80, 0x0c, len(key), 0, 0, 0, len(key), 0, 0) + key


NOOP = struct.pack(">BBHBBHIIQ", 0x80, 0x0a, 0, 0, 0, 0, 0, 0, 0)
HOSTILE = [b"<script>alert(1)</script>", b'"></td><img src=x onerror=alert(1)>', b"\xff\xfe\x80",
           b"a\r\nb\x00c", b"\\u003cb\\u003e", b"x" * 249, b"__proto__"]


def send_hostile_keys(server, times=200):
    for start in HOSTILE:
        key = start[:240] + b":1"
        with server.connect() as client:
            send(client, binary_get(key) * times + NOOP)
            receive(client, bytes(16))


def hostile_keys():
    with metrics_server() as server:
        send_hostile_keys(server)
        answer, text = ask(server.ports["METRICS"], "/status.json")
        check_headers(answer)
        shown = {each["prefix"] for each in json.loads(text)["prefixes"]["top"]}
        for start in HOSTILE:
            check(start[:64].decode(errors="replace") in shown, f"{start} is not in {shown}")
        check("<script>" not in ask(server.ports["METRICS"], "/metrics")[1])


def raw(port, request, close=True):
    """The answer to a connection that sends this, until its end."""
    with socket.create_connection(("127.0.0.1", port), timeout=LONG_SECONDS) as client:
        send(client, request)
        if close:
            client.shutdown(socket.SHUT_WR)
        return receive(client)


def hostile_http():
    with metrics_server() as server:
        port = server.ports["METRICS"]
        end = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        for method in (b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"PATCH"):
            answer = raw(port, method + b" /status.json" + end)
            check(answer.startswith(b"HTTP/1.1 405 ") and b"\r\nAllow: GET, HEAD\r\n" in answer,
                  answer)
        for path in (b"/etc/passwd", b"/../../etc/passwd", b"//", b"/page.js/", b"/%00",
                     b"/METRICS", b"/status.json%00", b"/" + b"a" * 3000):
            answer = raw(port, b"GET " + path + end)
            check(answer.startswith(b"HTTP/1.1 40"), answer)
        for request in (b"GET / HTTP/1.1\r\n" + b"A: " + b"b" * 100_000, b"GET /" + b"x" * 100_000,
                        b"BREW / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + bytes(200), b"\r\n\r\n",
                        b"GET / HTTP/9.9\r\n\r\n", b"get /\r\n", bytes(range(256)) * 16,
                        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n" +
                        b"x" * 1000,
                        b"GET http://evil.example/status.json HTTP/1.1\r\nHost: evil.example\r\n"
                        b"Connection: close\r\n\r\n"):
            answer = raw(port, request)
            check(b"get_hits" not in answer, answer)
        answer = raw(port, b"GET /?x=<script> HTTP/1.0\r\n\r\n")
        check(answer.startswith(b"HTTP/1.0 200") or answer.startswith(b"HTTP/1.1 200"), answer)
        check(b"x=<script>" not in answer, answer)
        equal(ask(port, "/status.json")[0].status, 200)
        server.expect(b"mn\r\n", b"MN\r\n")


def names_of_this_machine_alone():
    """Else a page of another name, which its owner points to 127.0.0.1, could read the answers."""
    with metrics_server() as server:
        port = server.ports["METRICS"]
        for host in (f"127.0.0.1:{port}", "localhost", f"LOCALHOST:{port}", "[::1]:9",
                     "a.localhost", socket.gethostname()):
            equal((host, ask(port, "/status.json", Host=host)[0].status), (host, 200))
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example",
                     "localhost.evil", "[evil]", "", "127.0.0.1@evil.example"):
            for path in {**PARTS, **DATA}:
                answer, text = ask(port, path, Host=host)
                check_headers(answer)
                equal((host, path, answer.status), (host, path, 200 if path == "/metrics" else 421))
                check(path == "/metrics" or "get_hits" not in text, text)


def users_alone():
    with tempfile.TemporaryDirectory() as folder:
        users = os.path.join(folder, "users")
        with open(users, "w", encoding="ascii") as file:
            file.write("ann:one\n")
        with metrics_server("-Y", users, folder=folder) as server:
            for path in {**PARTS, **DATA, "/none": ""}:
                answer, text = ask(server.ports["METRICS"], path)
                equal((path, answer.status), (path, 401))
                check("get_hits" not in text and "doctype" not in text, text)
                check("Basic" in answer.getheader("WWW-Authenticate"), answer.getheaders())
                for word, code in (("ann:one", 404 if path == "/none" else 200), ("ann:two", 401)):
                    given = "Basic " + base64.b64encode(word.encode()).decode()
                    answer, _ = ask(server.ports["METRICS"], path, Authorization=given)
                    equal((path, word, answer.status), (path, word, code))


def held_start(folder, *options):
    """A server whose resize waits before its end, and the file that holds it."""
    held = os.path.join(folder, "held")
    with open(held, "w", encoding="ascii"):
        pass
    os.environ.update(LD_PRELOAD=SLOW_SYNC, NVCACHE_TEST_HOLD_SYNCS=held)
    try:
        server = Server(PROGRAM, "-m", "32", *options, folder=folder, wait=False)
    finally:
        del os.environ["LD_PRELOAD"], os.environ["NVCACHE_TEST_HOLD_SYNCS"]
    wait_until(lambda: os.path.exists(held + ".reached") or server.process.poll() is not None,
               server.log_text)
    return server, held


def a_long_start_is_told():
    if SLOW_SYNC is None:
        return "no library that holds syncs"
    with tempfile.TemporaryDirectory() as folder:
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            fill(server, 1000, 2000)
        port = free_port()
        server, held = held_start(folder, "--metrics-port", str(port))
        with server:
            status = status_of(port)
            equal(status["state"], "starting")
            check(status["doing"], status)
            equal(ask(port)[0].status, 200)
            for path in ("/metrics", "/history.json"):
                answer, _ = ask(port, path)
                equal(answer.status, 503)
                check_headers(answer)
            equal(ask(port, "/status.json", Host="evil.example")[0].status, 421)
            os.unlink(held)
            status = wait_until(lambda: (now := status_of(port))["state"] == "serving" and now,
                                "it does not serve")
            equal(by_name(status, "stat")["store_recovered_items"], 1000)
        os.unlink(held + ".reached")
        # A start that ends before it serves ends with its port.
        server, held = held_start(folder, "--metrics-port", str(port), "-I", "3m")
        with server:
            equal(status_of(port)["state"], "starting")
            equal(server.stop()[0], 0)
            os.unlink(held)


def passwords_are_not_read_yet():
    if SLOW_SYNC is None:
        return "no library that holds syncs"
    with tempfile.TemporaryDirectory() as folder:
        users = os.path.join(folder, "users")
        with open(users, "w", encoding="ascii") as file:
            file.write("ann:one\n")
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            fill(server, 10, 10)
        port = free_port()
        server, held = held_start(folder, "--metrics-port", str(port), "-Y", users)
        with server:
            for path in {**PARTS, **DATA}:
                equal((path, ask(port, path)[0].status), (path, 503))
            os.unlink(held)
    return None


if __name__ == "__main__":
    sys.exit(run([the_page_needs_nothing_else, json_says_what_stats_says, a_sample_is_timed,
                  top_prefixes, hostile_keys, hostile_http, names_of_this_machine_alone,
                  users_alone, a_long_start_is_told, passwords_are_not_read_yet]))
