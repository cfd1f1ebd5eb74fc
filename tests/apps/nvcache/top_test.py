#!/usr/bin/env python3
"""`nvcache top` as a user meets it: files that a running program writes, nvcached's metrics port,
a terminal of any size, Ctrl-C, and sources that cannot be read.

usage: top_test.py NVCACHE STATS_WRITER [NVCACHED]
"""
import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "nvcached"))
from running_server import (LONG_SECONDS, Server, check, equal, expect, fill, run,  # noqa: E402
                            wait_until)

NVCACHE, WRITER = (os.path.abspath(program) for program in sys.argv[1:3])
NVCACHED = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

CACHE = "nvcache://?size=16MiB&admission=write_budget(1GiB/s)&eviction=lru"
TIERED = "tiered://?policy=bidirectional(4)&dram=1MiB&demote=foreground&tier=(size=16MiB)"
STORE = "nvkv://?size=4MiB"


def top(*words):
    return subprocess.run([NVCACHE, "top", *words], capture_output=True, text=True,
                          timeout=LONG_SECONDS, check=False)


class Writer:
    """A program with a cache, which writes its statistics when told to."""

    def __init__(self, kind, form, path, spec, lookups=3000):
        self.process = subprocess.Popen([WRITER, kind, form, path, spec, str(lookups)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        equal(self.process.stdout.readline(), "written\n")

    def go(self, lookups):
        self.process.stdin.write(f"{lookups}\n")
        self.process.stdin.flush()
        equal(self.process.stdout.readline(), "written\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(LONG_SECONDS)


def each_kind_is_shown():
    with tempfile.TemporaryDirectory() as folder:
        for kind, spec, words in (
                ("cache", CACHE, ["block cache", "admission write_budget(1GiB/s"]),
                ("files", CACHE, ["block cache", "files: 0 reads served of 0"]),
                ("tiered", TIERED, ["tiered cache, bidirectional(4)", "tier 0", "tier 1",
                                    "dram (objects)"]),
                ("store", STORE, ["key-value store", "durability cache", "items"])):
            for form in ("json", "prometheus"):
                path = f"{folder}/{kind}.{form}"
                with Writer(kind, form, path, spec) as writer:
                    writer.go(3000)
                answer = top(path)
                equal((answer.returncode, answer.stderr), (DONE, ""))
                for word in (path, "lookups 6000", "hits 50.0% in all", "written 0 s ago", *words):
                    check(word in answer.stdout, f"'{word}' is missing: {answer.stdout}")


def json_lines_tell_rates():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/stats.json"
        with Writer("cache", "json", path, CACHE) as writer:
            words = [NVCACHE, "top", path, "--json", "--interval", "0.1", "--drive-writes", "1TB"]
            watcher = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True)
            first = json.loads(watcher.stdout.readline())
            equal(first["format"], "nvcache.top/1")
            check("interval_seconds" not in first["sources"][0], first)
            writer.go(3000)
            while True:
                source = json.loads(watcher.stdout.readline())["sources"][0]
                if "interval_seconds" in source:
                    break
            whole = source["whole"]
            equal(whole["hit_ratio_now"], 1)
            equal(whole["hit_ratio"], 0.5)
            lookups = whole["lookups"]
            check(abs(lookups["per_second"] * source["interval_seconds"] - 3000) < 1e-3, source)
            equal(whole["budget_bytes_per_second"], 1 << 30)
            check(whole["refused"] == {} if "refused" in whole else True, whole)
            watcher.send_signal(signal.SIGINT)
            equal(watcher.wait(LONG_SECONDS), INTERRUPTED)
            watcher.stdout.close()


def what_cannot_be_read_is_named():
    with tempfile.TemporaryDirectory() as folder:
        good = f"{folder}/good.json"
        with Writer("cache", "json", good, CACHE):
            pass
        text = pathlib.Path(good).read_text()
        pathlib.Path(folder, "half.json").write_text(text[:len(text) // 2])
        pathlib.Path(folder, "words").write_text("some words\n")
        pathlib.Path(folder, "bench.json").write_text('{"format": "nvcache.ycsb/1"}')
        pathlib.Path(folder, "empty").write_text("")
        for name, told in (("none.json", "none.json: No such file or directory; a program writes"),
                           (".", "Is a directory"),
                           ("half.json", "half.json: is half written"),
                           ("words", "words: is neither JSON nor Prometheus text"),
                           ("bench.json", "of the format 'nvcache.ycsb/1'"),
                           ("empty", "its program has written nothing yet")):
            answer = top(f"{folder}/{name}")
            equal((answer.returncode, answer.stdout), (FAILED, ""))
            check(told in answer.stderr, answer.stderr)
        answer = top(good, f"{folder}/none.json")  # the one does not hide the other
        equal(answer.returncode, FAILED)
        check("block cache" in answer.stdout and "none.json" in answer.stderr, answer)
        os.utime(good, (1000000000, 1000000000))
        answer = top(good)
        equal(answer.returncode, DONE)
        check(re.search(r"written \d+ days ago", answer.stdout), answer.stdout)
        check("its program has ended" in answer.stdout, answer.stdout)


def addresses_that_do_not_answer():
    pages = {}

    class Refuser(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # pylint: disable=invalid-name
            if self.path not in pages:
                self.send_error(404)
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(pages[self.path].encode())

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Refuser) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        answer = top(f"http://127.0.0.1:{port}/")
        equal(answer.returncode, FAILED)
        check(f"http://127.0.0.1:{port}/: the answer is 404" in answer.stderr, answer.stderr)
        # The answer of nvcached while it reads its items.
        pages["/status.json"] = json.dumps({"state": "starting", "doing": "reading items",
                                            "unit": "regions", "done": 7, "all": 9, "seconds": 3})
        answer = top(f"http://127.0.0.1:{port}")
        equal(answer.returncode, FAILED)
        check("nvcached starts: reading items, 7 of 9 regions, for 3 s" in answer.stderr,
              answer.stderr)
        server.shutdown()
    answer = top(f"http://127.0.0.1:{port}/")
    equal(answer.returncode, FAILED)
    check("Connection refused" in answer.stderr, answer.stderr)
    answer = top("http://:80/")
    check("allowed: http://[USER:PASSWORD@]HOST" in answer.stderr, answer.stderr)


def a_wrong_command_line():
    for words in ([], ["x", "--interval", "0"], ["x", "--drive-writes", "much"],
                  ["x", "--drive-writes", "0"], ["x", "--nonsense"]):
        equal(top(*words).returncode, USAGE)


def requests_are_shown(server, address):
    """How long they took and what they asked for, in words and in JSON: of samples of them."""
    with server.connect() as client:
        for _ in range(20):
            client.sendall(b"get user:1\r\n" * 1000)
            expect(client, b"END\r\n" * 1000)
    shown = top(address).stdout
    for pattern in (r"^    gets: half within [0-9.]+ [um]?s, 99% within [0-9.]+ [um]?s, since",
                    r"^ +[0-9.]+% +0\.0%  user$"):
        check(re.search(pattern, shown, re.MULTILINE), f"{pattern} is missing: {shown}")
    source = json.loads(top(address, "--json", "--once").stdout)["sources"][0]
    latency = source["latency"]["get"]
    check(latency["samples"] >= 100, latency)
    check(0 < latency["p50_seconds"] <= latency["p99_seconds"], latency)
    equal((source["prefixes"][0]["prefix"], source["prefixes"][0]["hit_ratio"]), ("user", 0))


def nvcached_is_shown():
    if NVCACHED is None:
        return "no nvcached"
    with tempfile.TemporaryDirectory() as folder:
        users = pathlib.Path(folder, "users")
        users.write_text("ann:secret\n")
        with Server(NVCACHED, "-m", "8", "--metrics-port", "-1") as server:
            fill(server, 100, 1000)
            server.ask(b"get k1 k2 k3 none\r\n", b"END\r\n")
            url = f"http://127.0.0.1:{server.ports['METRICS']}/metrics"
            answer = top(url)
            equal((answer.returncode, answer.stderr), (DONE, ""))
            for word in ("nvcached", "lookups 4, hits 75.0% in all", "100 items", "connections",
                         "written 0 s ago"):
                check(word in answer.stdout, f"'{word}' is missing: {answer.stdout}")
            source = json.loads(top(url, "--json", "--once").stdout)["sources"][0]
            figures = source["whole"]
            equal(figures["inserts"]["total"], 100)
            for name in ("hits", "evictions", "written_bytes"):
                check("total" in figures[name], figures)
            check(figures["used_bytes"] > 100000 and figures["size_bytes"] > 0, figures)
            requests_are_shown(server, url.removesuffix("/metrics"))
        os.chmod(folder, 0o755)
        with Server(NVCACHED, "-m", "8", "--metrics-port", "-1", "-Y", str(users)) as server:
            host = f"127.0.0.1:{server.ports['METRICS']}"
            check("the answer is 401" in top(f"http://{host}/metrics").stderr, "no password")
            equal(top(f"http://ann:secret@{host}/metrics").returncode, DONE)
    return None


class Terminal:
    """`nvcache top` in a pseudo-terminal."""

    def __init__(self, columns, rows, *words):
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(self.slave)
        self.text = ""
        self.process = subprocess.Popen([NVCACHE, "top", *words], stdout=self.slave,
                                        stdin=self.slave, stderr=subprocess.PIPE)

    def resize(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.master], [], [], 0)[0]:
            self.text += os.read(self.master, 65536).decode()
        return self.text

    def frames(self):
        """The screens that are whole: another one, or the end, is behind each."""
        return [re.sub(r"\x1b\[[KJ]", "", frame).replace("\r", "").removesuffix("\n").split("\n")
                for frame in self.read().split("\x1b[H")[1:-1]]

    def wait_for(self, condition, what):
        wait_until(lambda: condition(self.frames()),
                   lambda: f"{what}: {self.frames()[-1:]}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(LONG_SECONDS)
        errors = self.process.stderr.read().decode()
        self.process.stderr.close()
        self.read()
        modes = termios.tcgetattr(self.slave)
        os.close(self.slave)
        os.close(self.master)
        return code, errors, modes == self.modes


def fits(frame, columns, rows):
    return len(frame) <= rows and all(len(line) <= columns for line in frame)


def a_terminal_is_drawn_again():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/stats.json"
        with Writer("tiered", "json", path, TIERED) as writer:
            wide = top(path).stdout.splitlines()
            check(not fits(wide, 40, 24), "the control fits, too")
            terminal = Terminal(80, 24, path, f"{folder}/none", "--interval", "0.1")
            terminal.wait_for(lambda frames: frames and "nvcache top: 2 sources" in frames[-1][0],
                              "no title")
            terminal.wait_for(lambda frames: any("none: No such" in line for line in frames[-1]),
                              "the missing file is not named")
            writer.go(3000)
            terminal.wait_for(lambda frames: any("/s, hits" in line for line in frames[-1]),
                              "no rates")
            for frame in terminal.frames():
                check(fits(frame, 80, 24), frame)
            terminal.resize(40, 5)
            terminal.wait_for(lambda frames: fits(frames[-1], 40, 5), "it does not shrink")
            check(re.match(r"\.\.\. \d+ more lines", terminal.frames()[-1][-1]),
                  terminal.frames()[-1])
            terminal.resize(120, 50)
            terminal.wait_for(lambda frames: len(frames[-1]) > 5, "it does not grow")
            code, errors, same = terminal.end()
            equal((code, errors, same), (INTERRUPTED, "nvcache top: interrupted\n", True))
            check(terminal.text.startswith("\x1b[?1049h"), terminal.text[:40])
            check(terminal.text.endswith("\x1b[?25h\x1b[?1049l"), terminal.text[-40:])


def a_file_cannot_steer_the_terminal():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/stats.json"
        with Writer("cache", "json", path, CACHE):
            pass
        text = pathlib.Path(path).read_text().replace('"dram"', r'"\u001b[31mred"')
        pathlib.Path(path).write_text(text)
        check("?[31mred" in top(path).stdout, top(path).stdout)
        terminal = Terminal(200, 30, path, "--interval", "0.1")
        terminal.wait_for(lambda frames: any("?[31mred" in line for line in frames[-1])
                          if frames else False, "the medium is missing")
        terminal.end()
        check("\x1b[31m" not in terminal.text, "a colour came through")


def rounds_end_it():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/stats.json"
        with Writer("cache", "json", path, CACHE):
            pass
        answer = top(path, "--json", "--rounds", "3", "--interval", "0.1")
        equal((answer.returncode, len(answer.stdout.splitlines())), (DONE, 3))


if __name__ == "__main__":
    sys.exit(run([each_kind_is_shown, json_lines_tell_rates, what_cannot_be_read_is_named,
                  addresses_that_do_not_answer, a_wrong_command_line, nvcached_is_shown,
                  a_terminal_is_drawn_again, a_file_cannot_steer_the_terminal, rounds_end_it]))
