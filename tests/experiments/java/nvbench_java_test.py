#!/usr/bin/env python3
"""Runs `nvcache bench flink` or `kafka-streams`, small: the programs send the same with and
without nvcache, the tier spares reads, Ctrl-C leaves nothing, and what is wrong is told.

usage: nvbench_java_test.py COMMAND NVBENCH LIBNVCACHE_JVM.SO DAMAGING_CORE.SO JARS FOLDER
Exit: 0 good, 1 bad, 77 skipped.
"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "adapters" / "jvm"))
from jvm_test import TIME_OUT, fail, skip_without  # noqa: E402

SMALL = ["--keys", "30000", "--warm", "10000", "--pairs", "1", "--events"]


class Bench:
    def __init__(self, command, nvbench, library, jars, folder):
        self.words = [nvbench, command, "--jars", jars, *SMALL]
        self.library, self.folder = library, folder
        self.db = folder / "db"

    def line(self, *options, library=None, events="40000"):
        return [*self.words, events, "--library", library or self.library, "--db", self.db,
                *options]

    def run(self, *options, **which):
        done = subprocess.run(self.line(*options, **which), text=True, capture_output=True,
                              timeout=3 * TIME_OUT, check=False)
        if self.db.exists():
            fail(f"{options}: files are left", done)
        return done


def check_results(bench):
    path = bench.folder / "out.json"
    done = bench.run("--json", path)
    if done.returncode != 0:
        fail("it did not end well", done)
    print(done.stdout)
    result = json.loads(path.read_text())
    if [(run["case"], run["configuration"]) for run in result["runs"]] != [
            ("larger", "none"), ("larger", "nvcache"), ("fits", "none"), ("fits", "nvcache")]:
        fail("other runs than these", done)
    for case in ("larger", "fits"):
        sent = [run["sent"] for run in result["runs"] if run["case"] == case]
        if sent[0] != sent[1] or not any(name.startswith("digest") for name in sent[0]):
            fail(f"{case}: other results, or none", done)
    larger = result["summary"][0]["metrics"]
    if larger["lower_hits"]["nvcache"]["min"] == 0:
        fail("no block came from the tier", done)
    if larger["read_calls"]["ratio"]["max"] > 0.5:
        fail("the tier saved less than half of the reads", done)


def processes_with(word):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                found.append(path)
        except OSError:  # it has ended
            pass
    return found


def check_interrupt(bench):
    """Ctrl-C ends the program, and leaves nothing."""
    with subprocess.Popen(bench.line(events="100000000"), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as running:
        while not (bench.db / "nvcache-java" / "run" / "output").exists():
            if running.poll() is not None:
                fail(f"it ended by itself: {running.communicate()}")
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=TIME_OUT)
    if running.returncode != 130 or output:
        fail(f"interrupted: exit code {running.returncode}, {output}, {errors}")
    if bench.db.exists() or processes_with(str(bench.db)):
        fail(f"interrupted: left {processes_with(str(bench.db))}, or files")


def check_wrong(bench):
    done = bench.run("--cases", "fits", "--tiered", "nonsense")
    if done.returncode != 1 or not re.search("nvcache: .*nonsense", done.stderr):
        fail("a wrong specification is not told", done)


def check_control(bench, damaging):
    """With every saved block damaged, the results must differ, or the program fail."""
    folder = bench.folder / "damaged"
    shutil.copytree(bench.library.parent / "nvcache", folder / "nvcache")
    shutil.copy(bench.library, folder)
    shutil.copy(damaging, folder / "nvcache" / "libnvcache_jvm_core.so")
    done = bench.run("--cases", "larger", library=folder / bench.library.name)
    if done.returncode != 1 or "larger nvcache, pair 1: " not in done.stderr:
        fail("nobody noticed that saved blocks are damaged", done)


def main(command, nvbench, library, damaging, jars, folder):
    skip_without(jars)
    pathlib.Path(folder).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        bench = Bench(command, nvbench, pathlib.Path(library), jars, pathlib.Path(work))
        check_results(bench)
        check_interrupt(bench)
        check_wrong(bench)
        check_control(bench, damaging)
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    main(*sys.argv[1:])
