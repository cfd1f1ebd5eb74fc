"""Starts a server on a free port of the loopback interface, and ends it by its own pid."""
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


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


class Server:
    """`port`: a number, or True for any; `folder`: where it keeps its data, which stays;
    `wait`: until it listens; `stderr`: in place of the log."""

    def __init__(self, program, *options, port=True, folder=None, wait=True, stderr=None):
        self.temporary = None if folder else tempfile.TemporaryDirectory(prefix="nvcached_test_")
        self.folder = folder or self.temporary.name
        self.port_file = self.path("port")
        if os.path.exists(self.port_file):
            os.unlink(self.port_file)
        environment = dict(os.environ, MEMCACHED_PORT_FILENAME=self.port_file,
                           XDG_STATE_HOME=self.folder)
        command = [program, "-l", "127.0.0.1", *options]
        if port:
            command += ["-p", "-1" if port is True else str(port)]
        if os.geteuid() == 0:
            command += ["-u", "root"]
        self.log = open(self.path("log"), "wb+")
        self.process = subprocess.Popen(command, env=environment, stdout=self.log,
                                        stderr=self.log if stderr is None else stderr)
        self.ports = {}
        for _ in range(1500 if wait else 0):
            if os.path.exists(self.port_file):
                break
            if self.process.poll() is not None:
                raise RuntimeError(f"{command} ended with {self.process.returncode}: "
                                   f"{self.log_text()}")
            time.sleep(0.02)
        else:
            if wait:
                raise RuntimeError(f"{command} does not say where it listens")
            return
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

    def rss_kb(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])
        return 0

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def ask(self, request, end=None, seconds=None):
        with self.connect() as client:
            client.sendall(request)
            return receive(client, end, seconds)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.log.closed:
            return self.process.returncode, ""
        text = self.log_text()
        self.log.close()
        if self.temporary:
            self.temporary.cleanup()
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


def receive(client, end=None, seconds=None):
    """Receives up to `end`, until the close, or until nothing arrives for so many seconds."""
    client.settimeout(seconds or (20 if end else 0.3))
    answer = b""
    try:
        while end is None or not answer.endswith(end):
            part = client.recv(1 << 20)
            if not part:
                return answer + b"<closed>"
            answer += part
    except socket.timeout:
        pass
    except ConnectionError:
        answer += b"<closed>"
    return answer


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
