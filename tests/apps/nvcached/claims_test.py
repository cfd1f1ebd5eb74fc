#!/usr/bin/env python3
"""The claims of a server that starts beside other servers: ports, unix sockets. And how one that
runs in the background (-d) tells that it serves, or cannot.

usage: claims_test.py SERVER
"""
import os
import signal
import socket
import sys
import tempfile

from running_server import (LONG_SECONDS, Server, check, equal, expect, fill, found, run,
                            socket_folder, wait_until)

PROGRAM = sys.argv[1]


def ports_come_first():
    """A port that another server has is known before anything is copied."""
    with tempfile.TemporaryDirectory() as folder:
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            fill(server, 10, 100)
        with Server(PROGRAM, "-m", "8") as other:
            for options in (["-p", str(other.port)], ["-p", "-1", f"--metrics-port={other.port}"]):
                with Server(PROGRAM, "-m", "16", *options, port=False, folder=folder,
                            wait=False) as server:
                    equal(server.wait(), 1)
                    check("cannot listen on" in server.log_text(), server.log_text())
                    check("resized" not in server.log_text(), server.log_text())
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            check("resized" not in server.log_text(), server.log_text())
            equal(found(server, 10, 100), 10)


def in_the_background():
    """-d: what was started ends when the server serves, with 0; or with its exit code and message,
    if it cannot."""
    with socket_folder() as folder:
        with Server(PROGRAM, "-m", "8", folder=folder) as other:
            data = os.path.join(folder, "nvcached", "data")
            for options, code, message in (
                    (("-p", str(other.port), f"--medium=file:{folder}/b"), 1, "cannot listen on"),
                    (("-p", "-1", f"--medium=file:{data}"), 1, "in use by another store"),
                    (("-p", "-1", f"--medium=file:{folder}/no/b"), 1, "No such file"),
                    (("-p", "-1", "--medium=other"), 64, "not a medium"),
                    (("-s", f"{folder}/s", "-Y", f"{folder}/none", f"--medium=file:{folder}/c"), 64,
                     "cannot be read")):
                with Server(PROGRAM, "-m", "8", "-d", *options, port=False, folder=folder,
                            wait=False) as server:
                    equal((options, server.wait()), (options, code))
                    check(message in server.log_text(), server.log_text())
                check(not os.path.exists(f"{folder}/s"), "the unix socket of a failed start")
        pid_file = os.path.join(folder, "pid")
        with Server(PROGRAM, "-m", "8", "-d", "-P", pid_file, folder=folder, wait=False) as server:
            equal(server.wait(), 0)
            with open(server.port_file, encoding="ascii") as file:  # it serves already
                port = int(file.read().rsplit(": ", 1)[1])
            with socket.create_connection(("127.0.0.1", port), timeout=LONG_SECONDS) as client:
                client.sendall(b"mn\r\n")
                expect(client, b"MN\r\n")
                with open(pid_file, encoding="ascii") as file:
                    os.kill(int(file.read()), signal.SIGTERM)
                equal(client.recv(10), b"")


def unix_sockets_of_others():
    """The file of a new server stays when the old one ends; a start beside a stopped one is
    refused."""
    with socket_folder() as folder:
        path = os.path.join(folder, "s")

        def start(name, wait=True):
            server = Server(PROGRAM, "-m", "8", "-s", path, f"--medium=file:{folder}/{name}",
                            port=False, folder=folder, wait=False)
            if wait:
                wait_until(lambda: "listening on" in server.log_text(), server.log_text)
            return server
        with start("a") as old:
            os.rename(path, path + "2")
            with start("b"):
                equal(old.stop()[0], 0)
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(path)
        check(not os.path.exists(path), "the last one removes it")
        with start("a") as old:
            old.process.send_signal(signal.SIGSTOP)
            waiting = []
            while True:  # until its queue is full
                waiting.append(socket.socket(socket.AF_UNIX))
                waiting[-1].setblocking(False)
                try:
                    waiting[-1].connect(path)
                except BlockingIOError:
                    break
            with start("b", wait=False) as new:
                equal(new.wait(), 1)
                check("cannot listen on unix socket" in new.log_text(), new.log_text())
            for each in waiting:
                each.close()
            old.process.send_signal(signal.SIGCONT)


if __name__ == "__main__":
    sys.exit(run([ports_come_first, in_the_background, unix_sockets_of_others]))
