#!/usr/bin/env python3
"""What an operator does with nvcached, on the real store: other sizes, restarts, certificates,
passwords, metrics, a data file that fails.

usage: operations_test.py SERVER SLOW_SYNC

SLOW_SYNC: a library that is preloaded to hold syncs.
"""
import base64
import os
import pwd
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from running_server import (CLOSED, LONG_SECONDS, Server, check, equal, expect, free_port, receive,
                            run, socket_folder, stats, store, wait_until)

PROGRAM = sys.argv[1]
SLOW_SYNC = sys.argv[2]
MIB = 1 << 20


def fill(server, items, size):
    with server.connect() as client:
        for i in range(items):
            equal(store(client, b"k%d" % i, b"%d" % i * (size // len(str(i)))), b"STORED\r\n")


def found(server, items, size):
    with server.connect() as client:
        count = 0
        for i in range(items):
            client.sendall(b"get k%d\r\n" % i)
            answer = receive(client, b"END\r\n")
            value = b"%d" % i * (size // len(str(i)))
            if answer != b"END\r\n":
                equal(answer, b"VALUE k%d 0 %d\r\n%s\r\nEND\r\n" % (i, len(value), value))
                count += 1
        return count


def other_sizes():
    """Another -m or a larger -I keeps what fits, and says so."""
    with tempfile.TemporaryDirectory() as folder:
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            fill(server, 1000, 2000)
        with Server(PROGRAM, "-m", "32", folder=folder) as server:
            equal(found(server, 1000, 2000), 1000)
            check("resized the store from 8.00 MiB to 32.0 MiB: 1000 of 1000" in server.log_text(),
                  server.log_text())
        with Server(PROGRAM, "-m", "32", "-I", "3m", folder=folder) as server:
            equal(found(server, 1000, 2000), 1000)
            with server.connect() as client:
                for size in (1 * MIB, 2 * MIB, 3 * MIB - 200):
                    equal(store(client, b"large", b"x" * size), b"STORED\r\n")
        with Server(PROGRAM, "-m", "1", folder=folder) as server:
            kept = found(server, 1000, 2000)
            check(100 < kept < 1000, kept)
        with Server(PROGRAM, "-m", "1", folder=folder) as server:
            check("resized" not in server.log_text(), "twice")
            equal(found(server, 1000, 2000), kept)


def no_room_to_grow():
    with tempfile.TemporaryDirectory() as folder:
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            fill(server, 10, 100)
        with Server(PROGRAM, "-m", "100TiB", folder=folder, wait=False) as server:
            server.wait()
            check(server.process.returncode != 0)
        with Server(PROGRAM, "-m", "7000000", folder=folder, wait=False) as server:
            server.wait()
            equal(server.process.returncode, 1)
            check("its file is unchanged" in server.log_text(), server.log_text())
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            equal(found(server, 10, 100), 10)


def small_stores():
    """-m 1 to 4, which memcached takes: items are an eighth of the store at most."""
    for megabytes in (1, 2, 4):
        with Server(PROGRAM, "-m", str(megabytes)) as server:
            limit = int(stats(server, b" settings")["item_size_max"])
            equal(limit, megabytes * MIB // 8)
            with server.connect() as client:
                equal(store(client, b"a", b"x" * (limit - 200)), b"STORED\r\n")
                answer = store(client, b"b", b"x" * limit)
                check(answer.startswith(b"SERVER_ERROR object too large"), answer)


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


def files_of_others():
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        with Server(PROGRAM, "-m", "8", f"--medium=file:{data}", folder=folder):
            equal(os.stat(data).st_mode & 0o777, 0o600)
        os.chmod(data, 0o660)
        with Server(PROGRAM, "-m", "8", f"--medium=file:{data}", folder=folder) as server:
            equal(os.stat(data).st_mode & 0o777, 0o600)
            check("mode 660 let other users in; it is 600 now" in server.log_text(),
                  server.log_text())
        os.rename(data, data + "2")
        os.symlink(data + "2", data)
        with Server(PROGRAM, "-m", "8", f"--medium=file:{data}", folder=folder,
                    wait=False) as server:
            server.wait()
            check(server.process.returncode != 0)
            check("a symbolic link" in server.log_text(), server.log_text())


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


def serves_while_it_syncs_at_the_end():
    """SIGTERM: what is slow is done before the ports close."""
    with tempfile.TemporaryDirectory() as folder:
        held = os.path.join(folder, "held")
        os.environ.update(LD_PRELOAD=SLOW_SYNC, NVCACHE_TEST_HOLD_SYNCS=held)
        try:
            with Server(PROGRAM, "-m", "8", folder=folder) as server:
                fill(server, 10, 100)
                with open(held, "wb"):
                    server.process.send_signal(signal.SIGTERM)
                try:
                    wait_until(lambda: os.path.exists(held + ".reached"), server.log_text)
                    check("shutting down" in server.log_text(), server.log_text())
                    equal(found(server, 10, 100), 10)
                    with server.connect() as client:
                        equal(store(client, b"late", b"x"), b"STORED\r\n")
                finally:
                    os.unlink(held)
                equal(server.wait(), 0)
        finally:
            del os.environ["LD_PRELOAD"], os.environ["NVCACHE_TEST_HOLD_SYNCS"]
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            equal(found(server, 10, 100), 10)
            check(b"VALUE late" in server.ask(b"get late\r\n", b"END\r\n"))


def make_certificate(folder, name):
    certificate, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


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


def systemd_is_told():
    with socket_folder() as folder:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            path = os.path.join(folder, "notify")
            notify.bind(path)
            notify.settimeout(LONG_SECONDS)
            os.environ["NOTIFY_SOCKET"] = path
            try:
                with Server(PROGRAM, "-m", "8", folder=folder):
                    equal(notify.recv(100), b"READY=1")
                equal(notify.recv(100), b"STOPPING=1")
            finally:
                del os.environ["NOTIFY_SOCKET"]


def locked_memory_stays_locked():
    """-k -d: the process that goes on has the lock."""
    with tempfile.TemporaryDirectory() as folder:
        pid_file = os.path.join(folder, "pid")
        with Server(PROGRAM, "-m", "8", "-k", "-d", "-P", pid_file, folder=folder,
                    wait=False) as server:
            wait_until(lambda: os.path.exists(pid_file) and os.path.getsize(pid_file) > 0,
                       server.log_text)
            with open(pid_file, encoding="ascii") as file:
                pid = int(file.read())
            try:
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    locked = [line for line in file if line.startswith("VmLck")][0]
                if "cannot lock memory" in server.log_text():
                    return "this user may not lock memory"
                check(int(locked.split()[1]) > 4096, locked)
            finally:
                os.kill(pid, signal.SIGTERM)
                wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "it does not end")
    return None


def root_names_a_user():
    """Root must name a user. One without a home of its own has its data in /var/lib/nvcached."""
    state = "/var/lib/nvcached"
    if os.geteuid() != 0 or os.path.exists(state):
        return f"needs root, and no {state}"
    environment = {name: value for name, value in os.environ.items() if name != "XDG_STATE_HOME"}
    command = [PROGRAM, "-m", "8", "-l", "127.0.0.1", "-p", str(free_port())]
    refused = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20,
                             check=False)
    equal(refused.returncode, 64)
    check("-u nobody" in refused.stderr, refused.stderr)
    try:
        with subprocess.Popen([*command, "-u", "nobody"], env=environment, text=True,
                              stderr=subprocess.PIPE) as server:
            for line in server.stderr:
                if "listening on" in line:
                    server.terminate()
        equal(server.returncode, 0)
        for path, mode in ((state, 0o40700), (state + "/data", 0o100600)):
            made = os.stat(path)
            equal((pwd.getpwuid(made.st_uid).pw_name, made.st_mode), ("nobody", mode))
    finally:
        shutil.rmtree(state, ignore_errors=True)
    return None


if __name__ == "__main__":
    sys.exit(run([other_sizes, no_room_to_grow, small_stores, a_file_that_fails, files_of_others,
                  passwords_are_read_again, binary_clients_authenticate, metrics_on_their_own_port,
                  metrics_take_few_descriptors, certificates, systemd_is_told,
                  serves_while_it_syncs_at_the_end, locked_memory_stays_locked,
                  root_names_a_user]))
