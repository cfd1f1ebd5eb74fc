"""Starts a server on a free port of the loopback interface, and ends it by its own pid."""
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time


class Server:
    def __init__(self, program, *options, port=True):
        self.folder = tempfile.TemporaryDirectory(prefix="nvcached_test_")
        self.port_file = os.path.join(self.folder.name, "port")
        environment = dict(os.environ, MEMCACHED_PORT_FILENAME=self.port_file,
                           XDG_STATE_HOME=self.folder.name)
        command = [program, "-l", "127.0.0.1", *options]
        if port:
            command += ["-p", "-1"]
        if os.geteuid() == 0:
            command += ["-u", "root"]
        self.log = open(os.path.join(self.folder.name, "log"), "wb+")
        self.process = subprocess.Popen(command, env=environment, stdout=self.log,
                                        stderr=self.log)
        self.ports = {}
        for _ in range(500):
            if os.path.exists(self.port_file):
                break
            if self.process.poll() is not None:
                raise RuntimeError(f"{command} ended with {self.process.returncode}: "
                                   f"{self.log_text()}")
            time.sleep(0.02)
        else:
            raise RuntimeError(f"{command} does not say where it listens")
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
        return os.path.join(self.folder.name, name)

    def rss_kb(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])
        return 0

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def ask(self, request, end=None, seconds=0.3):
        """Sends, and returns what comes: up to `end`, the close or a silence."""
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
        text = self.log_text()
        self.log.close()
        self.folder.cleanup()
        return self.process.returncode, text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def receive(client, end=None, seconds=0.3):
    client.settimeout(20 if end else seconds)
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


def run(tests):
    """Runs the functions, one after the other; the exit code for the test driver."""
    failed = 0
    for test in tests:
        try:
            result = test()
            print(f"{'skipped: ' + result if result else 'passed '} {test.__name__}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED  {test.__name__}: {error!r}", flush=True)
    return 1 if failed else 0
