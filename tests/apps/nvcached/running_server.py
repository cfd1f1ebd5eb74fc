"""Starts a server on a free port of the loopback interface, and ends it by its own pid.

A test goes on when it has what it expects: the known answer, the close, the answer to a further
request, a condition. A time-out only ends a test of a server that hangs.
"""
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


# How long a server may be silent, or a condition may take, before the test calls it hung. A good
# run never waits that long, on a slow machine either.
LONG_SECONDS = 120

MEMORY_FOLDER = "/dev/shm"
MEMORY_FOLDER_BYTES = 3 << 30


def keep_data_in_memory():
    """So that a slow disk keeps no test waiting. TMPDIR names another folder."""
    if "TMPDIR" in os.environ or not os.access(MEMORY_FOLDER, os.W_OK | os.X_OK):
        return
    room = os.statvfs(MEMORY_FOLDER)
    if room.f_bavail * room.f_frsize >= MEMORY_FOLDER_BYTES:
        tempfile.tempdir = MEMORY_FOLDER


keep_data_in_memory()


def socket_folder():
    """A temporary folder whose path is short: the path of a unix socket takes 107 bytes at most."""
    parent = tempfile.gettempdir()
    return tempfile.TemporaryDirectory(prefix="nvcached_test_",
                                       dir=parent if len(parent) < 60 else "/tmp")


ports_held = []


def free_port():
    """A port that stays this test's: a socket is bound to it until the program ends, so that
    neither another test nor a connection gets it. It does not listen, and so lets a server listen
    that sets SO_REUSEADDR. The port lies below those that the system gives to connections."""
    while True:
        port = random.SystemRandom().randrange(12000, 30000)
        holder = socket.socket()
        try:
            holder.bind(("127.0.0.1", port))
        except OSError:
            holder.close()
            continue
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ports_held.append(holder)
        return port


def pymemcache_client():
    """pymemcache's Client, or None."""
    try:
        from pymemcache.client.base import Client
    except ImportError:
        # Debian's package, for an interpreter that is not Debian's.
        sys.path.append("/usr/lib/python3/dist-packages")
        try:
            from pymemcache.client.base import Client
        except ImportError:
            return None
    return Client


def peer(program):
    """Path of memcached or nutcracker: installed, or built by script/peers; else None."""
    found = shutil.which(program)
    if found is None:
        script = pathlib.Path(__file__).resolve().parents[3] / "script" / "peers"
        answer = subprocess.run([script], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            found = os.path.join(answer.stdout.strip(), program)
        else:
            print(answer.stderr.strip().splitlines()[-1:])
    return found


def check_end(code, log):
    """A crash and a sanitizer's report fail the test, whatever it is about, and give it no second
    chance: tools/run_tests.py looks for these words."""
    if -code in (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV):
        print(f"CRASH of the server by signal {-code}: {log[-2000:]}", flush=True)
        raise AssertionError(f"the server ended by signal {-code}")
    if "Sanitizer: " in log or "runtime error: " in log:
        print(log[-8000:], flush=True)
        raise AssertionError("a sanitizer's report")


def closing(places):
    """For subprocess: closes descriptors of the new process."""
    def close():
        for place in places:
            os.close(place)
    return close if places else None


class Server:
    """`port`: a number, or True for any; `folder`: where it keeps its data, which stays;
    `wait`: until it listens; `stderr`: in place of the log; `closed`: descriptors that it has
    not; `environment`: variables beside those that are set here."""

    def __init__(self, program, *options, port=True, folder=None, wait=True, stderr=None,
                 closed=(), environment=()):
        self.temporary = None if folder else tempfile.TemporaryDirectory(prefix="nvcached_test_")
        self.folder = folder or self.temporary.name
        self.port_file = self.path("port")
        if os.path.exists(self.port_file):
            os.unlink(self.port_file)
        environment = dict(os.environ, MEMCACHED_PORT_FILENAME=self.port_file,
                           XDG_STATE_HOME=self.folder, **dict(environment))
        command = [program, "-l", "127.0.0.1", *options]
        if port:
            command += ["-p", "-1" if port is True else str(port)]
        if os.geteuid() == 0:
            command += ["-u", "root"]
        self.log = open(self.path("log"), "wb+")
        self.process = subprocess.Popen(command, env=environment, stdout=self.log,
                                        stderr=self.log if stderr is None else stderr,
                                        preexec_fn=closing(closed))
        self.ports = {}
        if not wait:
            return
        try:
            wait_until(lambda: os.path.exists(self.port_file) or self.process.poll() is not None,
                       lambda: f"{command} does not say where it listens: {self.log_text()}")
            if not os.path.exists(self.port_file):
                raise RuntimeError(f"{command} ended with {self.process.returncode}: "
                                   f"{self.log_text()}")
        except Exception:
            self.stop()
            raise
        for line in pathlib.Path(self.port_file).read_text().splitlines():
            name, number = line.rsplit(": ", 1)
            self.ports[name] = int(number)

    @property
    def port(self):
        return self.ports["TCP INET"]

    def log_text(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def path(self, name):
        return os.path.join(self.folder, name)

    def anonymous_kb(self):
        """Memory that is not the store's file."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("RssAnon"):
                    return int(line.split()[1])
        return 0

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=LONG_SECONDS)

    def ask(self, request, end=None):
        """The answer up to `end`; without it, up to the close, which the server must begin."""
        with self.connect() as client:
            send(client, request)
            return receive(client, end)

    def expect(self, request, answer):
        """Fails unless a new connection is answered so. To show that nothing more comes behind an
        answer, end the request with one whose answer is known, such as `mn`."""
        with self.connect() as client:
            send(client, request)
            expect(client, answer)

    def wait(self):
        return self.process.wait(LONG_SECONDS)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.wait()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.log.closed:
            return self.process.returncode, ""
        text = self.log_text()
        self.log.close()
        if self.temporary:
            self.temporary.cleanup()
        check_end(self.process.returncode, text)
        return self.process.returncode, text

    def kill(self):
        """Sends SIGKILL. The content of `folder` stays."""
        self.process.kill()
        self.process.wait()
        self.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


CLOSED = b"<closed>"
MOST_BYTES = 1 << 20  # received at once


def send(client, request):
    """Sends all of it. A server that has closed meanwhile may still have answered before."""
    try:
        client.sendall(request)
    except ConnectionError:
        pass


def receive_while(client, missing):
    """Receives as long as `missing` says of what arrived that at most so many bytes are missing.
    A close becomes CLOSED."""
    client.settimeout(LONG_SECONDS)
    answer = b""
    while most := missing(answer):
        try:
            part = client.recv(min(most, MOST_BYTES))
        except TimeoutError:
            raise AssertionError(f"nothing more came within {LONG_SECONDS} s behind "
                                 f"{len(answer)} bytes: {shortened(answer)}") from None
        except ConnectionError:
            part = b""
        if not part:
            return answer + CLOSED
        answer += part
    return answer


def receive(client, end=None):
    """Receives up to `end`, or up to the close, which the server must begin if there is no end."""
    return receive_while(client, lambda answer: 0 if end is not None and answer.endswith(end)
                         else MOST_BYTES)


def expect(client, answer):
    """Receives the answer, which may end with CLOSED. Fails at the first bytes that differ."""
    got = receive_while(client, lambda so_far: len(answer) - len(so_far)
                        if answer.startswith(so_far) else 0)
    if got != answer:
        client.setblocking(False)
        try:
            got += client.recv(MOST_BYTES)  # for the message alone
        except OSError:
            pass
        raise AssertionError(f"{shortened(got)} is not {shortened(answer)}")


def shortened(text):
    return repr(text) if len(text) < 1000 else f"{text[:400]!r} ... {text[-400:]!r}"


def wait_until(condition, what):
    """Returns what is true of `condition` as soon as it is. `what`: a text, or a function that
    makes it, of what it means if it never is."""
    deadline = time.monotonic() + LONG_SECONDS
    while True:
        result = condition()
        if result:
            return result
        check(time.monotonic() < deadline, what() if callable(what) else what)
        time.sleep(0.01)


class ReadBytes:
    """How much a server has read from others than this object's own connection."""

    REQUEST = b"stats\r\n"

    def __init__(self, server):
        self.client = server.connect()
        self.own = 0
        self.before = self.count()

    def count(self):
        self.client.sendall(self.REQUEST)
        self.own += len(self.REQUEST)
        answer = receive(self.client, b"END\r\n")
        return int(re.search(rb"STAT bytes_read (\d+)", answer)[1]) - self.own

    def wait_for(self, count):
        """Until so many bytes more than at the beginning are read."""
        wait_until(lambda: self.count() - self.before >= count,
                   lambda: f"{self.count() - self.before} of {count} bytes were read")

    def close(self):
        self.client.close()


def check(condition, what=""):
    if not condition:
        raise AssertionError(what)


def equal(got, expected):
    check(got == expected, f"{got!r} is not {expected!r}")


def stats(server, what=b""):
    answer = server.ask(b"stats%s\r\n" % what, b"END\r\n").decode()
    return dict(line.split(" ", 2)[1:] for line in answer.splitlines()[:-1])


def store(client, key, value):
    client.sendall(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value))
    return receive(client, b"\r\n")


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


def run(tests):
    """Runs the functions one after the other. Returns the exit code for the test driver."""
    failed = 0
    for test in tests:
        try:
            began = time.time()
            result = test()
            print(f"{'skipped: ' + result if result else 'passed '} {test.__name__}, "
                  f"{time.time() - began:.1f} s", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED  {test.__name__}: {error!r}", flush=True)
    return 1 if failed else 0
