#!/usr/bin/env python3
"""What requests and answers in flight take: bounded DRAM, and few zones of the store.

usage: buffers_test.py SERVER
"""
import os
import resource
import socket
import sys
import time

from running_server import Server, check, equal, receive, run, stats, store

PROGRAM = sys.argv[1]
MIB = 1 << 20


def batches_do_not_pin_the_store():
    """Answers of a batch wait to be sent, and pin all three zones, while it stores a value."""
    with Server(PROGRAM, "-m", "1", "-I", "120k") as server:
        with server.connect() as client:
            for i in range(9):  # three to a zone
                equal(store(client, b"k%d" % i, b"x" * 80_000), b"STORED\r\n")
            gets = b"get k0\r\nget k3\r\nget k6\r\n"
            client.sendall(gets + b"set k0 0 0 30000\r\n%s\r\n" % (b"y" * 30_000))
            answer = receive(client, b"STORED\r\n")
            check(answer.endswith(b"END\r\nSTORED\r\n"), answer[-60:])
            check(answer.count(b"VALUE") == 3, answer[:60])


def slow_readers(most_mib):
    """(kicked connections, growth in MiB) of 1,024 clients that ask for 12 MiB and do not read."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2048)), hard))
    with Server(PROGRAM, "-m", "64", "-c", "2048", f"--buffer-memory={most_mib}m") as server:
        with server.connect() as client:
            equal(store(client, b"large", b"x" * (MIB - 300)), b"STORED\r\n")
        before = server.rss_kb()
        clients = []
        most = 0
        try:
            for _ in range(1024):
                client = socket.socket()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect(("127.0.0.1", server.port))
                clients.append(client)
                client.sendall(b"get large\r\n" * 12)
                if len(clients) % 20 == 0:
                    most = max(most, server.rss_kb())
            for _ in range(20):  # answers, and copies of those that do not move on
                time.sleep(0.2)
                most = max(most, server.rss_kb())
            equal(server.ask(b"set other 0 0 2\r\nhi\r\n", b"\r\n"), b"STORED\r\n")
            all_stats = stats(server)
            check(int(all_stats["buffer_bytes"]) <= most_mib * MIB, all_stats["buffer_bytes"])
            return int(all_stats["buffer_kicks"]), (most - before) // 1024
        finally:
            for client in clients:
                client.close()


def slow_readers_are_bounded():
    kicked, growth_mib = slow_readers(16)
    check(kicked > 500, kicked)
    check(growth_mib < 40, growth_mib)
    print(f"  16 MiB: {kicked} closed, {growth_mib} MiB more")


def without_a_bound_they_take_more():
    """The control: where the budget is large, the same clients take what they ask for."""
    kicked, growth_mib = slow_readers(2048)
    equal(kicked, 0)
    check(growth_mib > 60, growth_mib)
    print(f"  2 GiB: {kicked} closed, {growth_mib} MiB more")


def large_values_are_not_copied():
    """Answers that do not fit into the socket stay pinned in the store, as long as they move."""
    with Server(PROGRAM, "-m", "512") as server:
        with server.connect() as client:
            value = os.urandom(1000) * 1000
            equal(store(client, b"large", value), b"STORED\r\n")
            for _ in range(10):
                client.sendall(b"get large\r\n" * 10)
                answer = receive(client, None, 0.05)
                equal(answer, b"VALUE large 0 1000000\r\n%s\r\nEND\r\n" % value * 10)
            equal(stats(server)["copied_bytes"], "0")


def buffers_are_given_back():
    with Server(PROGRAM, "-m", "16") as server:
        for _ in range(3):
            with server.connect() as client:
                client.sendall(b"set a 0 0 1000000\r\n" + b"x" * 900_000)
                time.sleep(0.1)
                check(int(stats(server)["buffer_bytes"]) >= 900_000)
        for _ in range(100):
            if stats(server)["buffer_bytes"] == "0":
                return
            time.sleep(0.02)
        check(False, stats(server)["buffer_bytes"])


if __name__ == "__main__":
    sys.exit(run([batches_do_not_pin_the_store, slow_readers_are_bounded,
                  without_a_bound_they_take_more, large_values_are_not_copied,
                  buffers_are_given_back]))
