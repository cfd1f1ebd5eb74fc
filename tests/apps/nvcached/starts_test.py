#!/usr/bin/env python3
"""nvcached from start to end, on the real store: other sizes, absences, files of others, signals,
systemd, users. (claims_test.py: ports and unix sockets, and -d.)

usage: starts_test.py SERVER SLOW_SYNC OTHER_CLOCK FEW_THREADS

The others are libraries that are preloaded: to hold syncs, to set the wall clock ahead, to refuse
threads.
"""
import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from running_server import (LONG_SECONDS, Server, check, equal, expect, fill, found, free_port, run,
                            socket_folder, stats, store, wait_until)

PROGRAM = sys.argv[1]
SLOW_SYNC = sys.argv[2]
OTHER_CLOCK = sys.argv[3]
FEW_THREADS = sys.argv[4]
MIB = 1 << 20


@contextlib.contextmanager
def held_syncs(folder):
    """The first syncs of the servers that start within wait, while the file that it names is there;
    NAME.reached tells that one waits."""
    held = os.path.join(folder, "held")
    os.environ.update(LD_PRELOAD=SLOW_SYNC, NVCACHE_TEST_HOLD_SYNCS=held)
    try:
        yield held
    finally:
        del os.environ["LD_PRELOAD"], os.environ["NVCACHE_TEST_HOLD_SYNCS"]
        if os.path.exists(held):
            os.unlink(held)


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


@contextlib.contextmanager
def later(seconds):
    """Servers that start within have a wall clock that is ahead."""
    os.environ.update(LD_PRELOAD=OTHER_CLOCK, NVCACHE_TEST_CLOCK_AHEAD=str(seconds))
    try:
        yield
    finally:
        del os.environ["LD_PRELOAD"], os.environ["NVCACHE_TEST_CLOCK_AHEAD"]


def a_long_absence():
    """An item from before an absence is a miss, and stale to meta commands."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("-m", "8", f"--medium=file:{folder}/data")

        def restarted(most_s, after_s):
            with later(after_s):
                return Server(PROGRAM, *options, f"--max-absence={most_s}", folder=folder)

        with restarted(3600, 0) as server, server.connect() as client:
            for key in (b"a", b"b", b"c"):
                equal(store(client, key, b"1"), b"STORED\r\n")
        with restarted(3600, 1000) as server:
            server.expect(b"get a\r\n", b"VALUE a 0 1\r\n1\r\nEND\r\n")
        with restarted(3600, 10_000) as server:
            check("its items count as stale" in server.log_text(), server.log_text())
            server.expect(b"get a b\r\nincr a 1\r\nappend a 0 0 1\r\n1\r\ntouch a 0\r\n",
                          b"END\r\nNOT_FOUND\r\nNOT_STORED\r\nNOT_FOUND\r\n")
            server.expect(b"mg a v\r\nmg a v\r\n", b"VA 1 X W\r\n1\r\nVA 1 Z X\r\n1\r\n")
            server.expect(b"add b 0 0 1\r\n2\r\nget b\r\n",
                          b"STORED\r\nVALUE b 0 1\r\n2\r\nEND\r\n")
            server.expect(b"delete c\r\nmg c\r\n", b"NOT_FOUND\r\nEN\r\n")
            check(int(stats(server)["store_away_seconds"]) > 3600, stats(server))
            check(int(stats(server)["get_outdated"]) >= 3, stats(server))
        with restarted("3600,empty", 20_000) as server:
            server.expect(b"mg a v\r\nget b\r\n", b"EN\r\nEND\r\n")


def a_full_table_of_items():
    """Small items fill the table before the store: told, counted, mended by the next start."""
    def fill_table(client):
        for first in range(0, 200_000, 1000):
            client.sendall(b"".join(b"set key%07d 0 0 16 noreply\r\n%016d\r\n" % (i, i)
                                    for i in range(first, first + 1000)))
        client.sendall(b"mn\r\n")
        expect(client, b"MN\r\n")

    with tempfile.TemporaryDirectory() as folder:
        options = ("-m", "16", f"--medium=file:{folder}/data")
        with Server(PROGRAM, *options, folder=folder) as server, server.connect() as client:
            fill_table(client)
            before = stats(server)
            check(int(before["store_table_evictions"]) > 100_000, before)
            wait_until(lambda: "the table of items is full" in server.log_text(), server.log_text)
        with Server(PROGRAM, *options, folder=folder) as server, server.connect() as client:
            check("it grows (item=81)" in server.log_text(), server.log_text())
            check("copied the store" in server.log_text(), server.log_text())
            equal(stats(server)["curr_items"], before["curr_items"])
            fill_table(client)
            check(int(stats(server)["curr_items"]) > 150_000, stats(server))
        with Server(PROGRAM, *options, folder=folder) as server:
            check("it grows" not in server.log_text(), server.log_text())


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


def a_data_file_that_goes():
    """Removed, or replaced, while the server runs: told, counted, served on, not claimed to be
    kept. One that comes back is."""
    for what in ("removed", "replaced", "back again"):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data")
            with Server(PROGRAM, "-m", "8", f"--medium=file:{data}", folder=folder) as server:
                fill(server, 100, 100)
                equal(stats(server)["store_file_lost"], "0")
                if what == "removed":
                    os.unlink(data)
                else:
                    os.rename(data, data + "2")
                if what == "replaced":
                    shutil.copy(data + "2", data)
                equal(stats(server)["store_file_lost"], "1")
                if what == "removed":
                    wait_until(lambda: f"the data file {data} is not there any more"
                               in server.log_text(), server.log_text)
                if what == "back again":
                    os.rename(data + "2", data)
                    equal(stats(server)["store_file_lost"], "0")
                fill(server, 101, 100)
                equal(found(server, 101, 100), 101)
                code, log = server.stop()
            kept = what == "back again"
            equal((what, code), (what, 0 if kept else 1))
            check(("101 items kept" in log) == kept, log)
            check(("101 items end with this process" in log) != kept, log)


def serves_while_it_syncs_at_the_end():
    """SIGTERM: what is slow is done before the ports close."""
    with tempfile.TemporaryDirectory() as folder:
        with held_syncs(folder) as held, Server(PROGRAM, "-m", "8", folder=folder) as server:
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
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            equal(found(server, 10, 100), 10)
            check(b"VALUE late" in server.ask(b"get late\r\n", b"END\r\n"))


def ends_while_it_resizes():
    """SIGTERM is obeyed though a sync of the new file does not return; the old file stays, and the
    next start removes the new one."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "nvcached", "data")
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            fill(server, 1000, 2000)
        with held_syncs(folder) as held, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(os.path.join(folder, "notify"))
            notify.settimeout(LONG_SECONDS)
            os.environ["NOTIFY_SOCKET"] = os.path.join(folder, "notify")
            open(held, "wb").close()
            try:
                with Server(PROGRAM, "-m", "16", folder=folder, wait=False) as server:
                    wait_until(lambda: os.path.exists(held + ".reached"), server.log_text)
                    check(os.path.exists(data + ".resizing"))
                    check(notify.recv(1000).startswith(b"EXTEND_TIMEOUT_USEC="))
                    server.process.send_signal(signal.SIGTERM)
                    equal(server.wait(), 0)
                    check("ended while it started" in server.log_text(), server.log_text())
            finally:
                del os.environ["NOTIFY_SOCKET"]
        equal(os.path.getsize(data), 8 * MIB)
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            equal(found(server, 1000, 2000), 1000)
            check(not os.path.exists(data + ".resizing"))


def threads_that_cannot_start():
    """Whichever thread is refused: a message and 1, until it serves. The items stay."""
    with tempfile.TemporaryDirectory() as folder:
        size = 8
        with Server(PROGRAM, "-m", str(size), folder=folder) as server:
            fill(server, 100, 100)
        refused = 0
        for threads in range(100):
            os.environ.update(LD_PRELOAD=FEW_THREADS, NVCACHE_TEST_THREADS=str(threads))
            try:
                server = Server(PROGRAM, "-m", str(size), "-U", "-1", folder=folder, wait=False)
            finally:
                del os.environ["LD_PRELOAD"], os.environ["NVCACHE_TEST_THREADS"]
            with server:
                wait_until(lambda: server.process.poll() is not None or
                           "listening on" in server.log_text(), server.log_text)
                if server.process.poll() is None:
                    break
                equal(server.process.returncode, 1)
                check("thread" in server.log_text(), server.log_text())
                refused += 1
        check(5 <= refused < 99, refused)
        with Server(PROGRAM, "-m", str(size), folder=folder) as server:
            equal(found(server, 100, 100), 100)


def systemd_is_told():
    with socket_folder() as folder:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            path = os.path.join(folder, "notify")
            notify.bind(path)
            notify.settimeout(LONG_SECONDS)
            os.environ["NOTIFY_SOCKET"] = path
            try:
                with Server(PROGRAM, "-m", "8", folder=folder):
                    equal(notify.recv(100), b"READY=1\nSTATUS=serving")
                equal(notify.recv(100).splitlines()[0], b"STOPPING=1")
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
    sys.exit(run([other_sizes, no_room_to_grow, small_stores, a_long_absence, a_full_table_of_items,
                  files_of_others, a_data_file_that_goes, serves_while_it_syncs_at_the_end,
                  ends_while_it_resizes, threads_that_cannot_start, systemd_is_told,
                  locked_memory_stays_locked, root_names_a_user]))
