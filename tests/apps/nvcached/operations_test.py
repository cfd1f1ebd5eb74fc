#!/usr/bin/env python3
"""The work of an operator with nvcached, on the real store: certificates, passwords, metrics,
statistics, a data file that fails.

usage: operations_test.py SERVER
"""
import base64
import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from running_server import (CLOSED, LONG_SECONDS, Server, check, equal, expect, fill, found,
                            free_port, receive, run, stats, store, wait_until)

PROGRAM = sys.argv[1]


def a_file_that_fails():
    """A page that cannot be read ends the server with a message and a code, not with a core."""
    with tempfile.TemporaryDirectory() as folder:
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            fill(server, 100, 1000)
            os.truncate(os.path.join(folder, "nvcached", "data"), 4096)
            try:
                found(server, 100, 1000)
            except (AssertionError, OSError):
                pass  # the server ends meanwhile
            server.wait()
            equal(server.process.returncode, 1)
            check("the medium failed: a page of the data file" in server.log_text(),
                  server.log_text())


def statistics_have_three_words():
    with tempfile.TemporaryDirectory() as folder:
        blank = os.path.join(folder, "with a blank")
        os.mkdir(blank)
        with Server(PROGRAM, "-m", "8", f"--medium=file:{blank}/data", folder=folder) as server:
            for what in (b"", b" settings", b" items", b" slabs", b" conns", b" sizes"):
                for line in server.ask(b"stats%s\r\n" % what, b"END\r\n").splitlines()[:-1]:
                    equal((len(line.split(b" ")), line.split(b" ")[0]), (3, b"STAT"))
            check(b"with%20a%20blank" in server.ask(b"stats settings\r\n", b"END\r\n"))


def passwords_are_read_again():
    with tempfile.TemporaryDirectory() as folder:
        users = os.path.join(folder, "users")

        def write(text):
            with open(users, "w", encoding="ascii") as file:
                file.write(text)

        def answer(user, password):
            text = f"{user} {password}".encode()
            with server.connect() as client:
                client.sendall(b"set x 0 0 %d\r\n%s\r\n" % (len(text), text))
                return receive(client, b"\r\n")

        write("ann:one\nbob:two\n")
        with Server(PROGRAM, "-m", "8", "-Y", users, folder=folder) as server:
            equal(answer("ann", "one"), b"STORED\r\n")
            equal(answer("bob", "two"), b"STORED\r\n")
            check(answer("ann", "two").startswith(b"CLIENT_ERROR"))
            write("ann:three\n")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: answer("ann", "three") == b"STORED\r\n", server.log_text)
            check(answer("ann", "one").startswith(b"CLIENT_ERROR"))
            write("no colon here\n")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "a line is not user:password" in server.log_text(), server.log_text)
            equal(answer("ann", "three"), b"STORED\r\n")


def binary_clients_authenticate():
    """libmemcached's own programs, which authenticate by SASL."""
    if shutil.which("memccp") is None:
        return "libmemcached-tools is not installed"
    with tempfile.TemporaryDirectory() as folder:
        users, value = os.path.join(folder, "users"), os.path.join(folder, "value")
        for path, text in ((users, "ann:one\n"), (value, "hello")):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        with Server(PROGRAM, "-m", "8", "-S", "-Y", users, folder=folder) as server:

            def ask(program, password, name):
                return subprocess.run(
                    [program, f"--servers=127.0.0.1:{server.port}", "--binary", "--username=ann",
                     f"--password={password}", name], capture_output=True, check=False,
                    timeout=LONG_SECONDS)

            equal(ask("memccp", "one", value).returncode, 0)
            equal(ask("memccat", "one", "value").stdout.strip(), b"hello")
            refused = ask("memccat", "two", "value")
            check(refused.returncode != 0 and b"hello" not in refused.stdout, refused)
            # Text clients are not served, as with memcached's -S.
            server.expect(b"version\r\n", CLOSED)
    return None


def metrics_on_their_own_port():
    with tempfile.TemporaryDirectory() as folder:
        users = os.path.join(folder, "users")
        with open(users, "w", encoding="ascii") as file:
            file.write("ann:one\n")
        port = free_port()
        with Server(PROGRAM, "-m", "8", "-l", f"127.0.0.1:{port}", "--metrics-port", "-1", "-Y",
                    users, port=False, folder=folder) as server:
            url = f"http://127.0.0.1:{server.ports['METRICS']}/metrics"
            try:
                urllib.request.urlopen(url, timeout=LONG_SECONDS)
                check(False, "metrics without a password")
            except urllib.error.HTTPError as error:
                equal(error.code, 401)
            for user, code in (("ann:one", 200), ("ann:two", 401), ("ann", 401)):
                request = urllib.request.Request(url)
                request.add_header("Authorization",
                                   "Basic " + base64.b64encode(user.encode()).decode())
                try:
                    with urllib.request.urlopen(request, timeout=LONG_SECONDS) as answer:
                        equal(answer.status, code)
                        check(b"nvcached_buffer_bytes 0" in answer.read())
                except urllib.error.HTTPError as error:
                    equal(error.code, code)


def metrics_take_few_descriptors():
    with Server(PROGRAM, "-m", "8", "--metrics-port", "-1") as server:
        port = server.ports["METRICS"]

        def descriptors():
            return len(os.listdir(f"/proc/{server.process.pid}/fd"))

        def get():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics",
                                        timeout=LONG_SECONDS) as answer:
                return answer.read()

        def wait_for_descriptors(condition):
            wait_until(lambda: condition(descriptors() - before),
                       lambda: f"{descriptors() - before} more descriptors")

        before = descriptors()
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        wait_for_descriptors(lambda more: more >= 32)
        # The thread that accepts these clients would accept the other silent ones, too.
        others = []
        for _ in range(3):
            others.append(server.connect())
            equal(store(others[-1], b"a", b"hi"), b"STORED\r\n")
            check(descriptors() <= before + 32 + len(others), descriptors() - before)
        for each in silent + others:
            each.close()
        check(b"nvcached_items 1" in get())
        for _ in range(200):
            get()
        wait_for_descriptors(lambda more: more <= 0)


def make_certificate(folder, name):
    certificate, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def a_full_tls_port_is_silent():
    """A client that waits for a handshake gets an end, not text that it cannot read."""
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_certificate(folder, "one")
        with Server(PROGRAM, "-m", "8", "-c", "10", "-Z", "-o",
                    f"ssl_chain_cert={certificate},ssl_key={key}", folder=folder) as server:
            with contextlib.ExitStack() as clients:
                for _ in range(10):
                    clients.enter_context(server.connect())
                equal(clients.enter_context(server.connect()).recv(100), b"")


def certificates():
    """Sessions of clients with certificates resume; a new certificate needs no restart; notls."""
    with tempfile.TemporaryDirectory() as folder:
        own, key = make_certificate(folder, "one")
        new, new_key = make_certificate(folder, "two")
        client_certificate, client_key = make_certificate(folder, "client")
        plain = free_port()
        with Server(PROGRAM, "-m", "8", "-Z", "-l", f"notls:127.0.0.1:{plain}", "-o",
                    f"ssl_chain_cert={own},ssl_key={key},ssl_ca_cert={client_certificate},"
                    "ssl_verify_mode=2", folder=folder) as server:

            def ask(trusted, session=None):
                context = ssl.create_default_context(cafile=trusted)
                context.load_cert_chain(client_certificate, client_key)
                with server.connect() as raw:
                    with context.wrap_socket(raw, server_hostname="127.0.0.1",
                                             session=session) as client:
                        client.sendall(b"version\r\n")
                        check(receive(client, b"\r\n").startswith(b"VERSION"))
                        return client.session, client.session_reused, context

            def resume():
                context = ssl.create_default_context(cafile=own)
                context.load_cert_chain(client_certificate, client_key)
                session = None
                reused = []
                for _ in range(2):
                    with server.connect() as raw:
                        with context.wrap_socket(raw, server_hostname="127.0.0.1",
                                                 session=session) as client:
                            client.sendall(b"version\r\n")
                            check(receive(client, b"\r\n").startswith(b"VERSION"))
                            session = client.session
                            reused.append(client.session_reused)
                return reused

            equal(resume(), [False, True])
            with socket.create_connection(("127.0.0.1", plain), timeout=LONG_SECONDS) as client:
                equal(store(client, b"a", b"hi"), b"STORED\r\n")
                os.replace(new, own)
                os.replace(new_key, key)
                client.sendall(b"refresh_certs\r\n")
                expect(client, b"OK\r\n")
                ask(own)
                os.unlink(key)
                client.sendall(b"refresh_certs\r\n")
                check(receive(client, b"\r\n").startswith(b"SERVER_ERROR private key"))
            ask(own)


if __name__ == "__main__":
    sys.exit(run([a_file_that_fails, statistics_have_three_words, passwords_are_read_again,
                  binary_clients_authenticate, metrics_on_their_own_port,
                  metrics_take_few_descriptors, a_full_tls_port_is_silent, certificates]))
