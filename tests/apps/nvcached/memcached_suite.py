#!/usr/bin/env python3
"""memcached's own tests (script/memcached_tests) on nvcached, and on memcached itself beside it.

usage: memcached_suite.py NVCACHED [TEST.t...]

Each test that fails must be one of memcached_left_out.txt, which says why; one of that list that
passes fails the run, so that the list stays true. Exit codes: 0 so it is; 1 it is not; 77 the tests
cannot be had.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SECONDS = 300


def left_out():
    """{test file: (set of test numbers, or None for all; reason)}"""
    entries = {}
    for line in (HERE / "memcached_left_out.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, numbers, reason = line.split(None, 2)
        entries[name] = (None if numbers == "all" else set(map(int, numbers.split(","))), reason)
    return entries


def run_one(folder, name):
    """(numbers that passed, numbers that failed, why it ended early or was skipped)"""
    environment = dict(os.environ)
    if name.startswith("ssl_"):
        environment["SSL_TEST"] = "1"
    command = ["./testapp"] if name == "testapp" else ["perl", "-I", "t/lib", "t/" + name]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        output, code = done.stdout.decode(errors="replace"), done.returncode
        problem = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    except subprocess.TimeoutExpired as late:
        output, code, problem = (late.stdout or b"").decode(errors="replace"), -1, ["timeout"]
    passed = set(map(int, re.findall(r"^ok (\d+)", output, re.M)))
    failed = set(map(int, re.findall(r"^not ok (\d+)(?!.*# TODO)", output, re.M)))
    skipped = re.search(r"^1\.\.0 # SKIP (.*)", output, re.M)
    if skipped:
        return passed, failed, "skipped: " + skipped.group(1)
    plan = re.search(r"^1\.\.(\d+)", output, re.M)
    complete = plan and len(passed) + len(failed) >= int(plan.group(1))
    if not complete or (code != 0 and not failed):
        return passed, failed, f"ended with {code}: {' '.join(problem)[:80]}"
    return passed, failed, ""


def prepare(tests, folder, server):
    """A folder from which the tests start `server`."""
    os.makedirs(folder)
    for name in ("t", "doc", "timedrun", "testapp"):
        source = tests / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, os.path.join(folder, name))
    program = os.path.join(folder, "memcached-debug")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec {server} \"$@\"\n")
    os.chmod(program, 0o755)


def verdict(name, result, entries):
    """The mistake in the result, or ''."""
    _, failed, early = result
    numbers, _ = entries.get(name, (set(), ""))
    bad = bool(failed) or (early != "" and not early.startswith("skipped"))
    if name in entries and not bad:
        return "passes, though memcached_left_out.txt has it"
    if numbers is None or not bad:
        return ""
    if early and not early.startswith("skipped"):
        return early
    surplus, fixed = sorted(failed - numbers), sorted(numbers - failed)
    if surplus:
        return f"failed: {surplus[:10]}"
    return f"pass, though memcached_left_out.txt has them: {fixed[:10]}" if fixed else ""


def main():
    got = subprocess.run([ROOT / "script" / "memcached_tests"], check=False)
    if got.returncode != 0:
        return 77
    tests = pathlib.Path(subprocess.run([ROOT / "script" / "memcached_tests", "--root"],
                                        capture_output=True, text=True,
                                        check=True).stdout.strip())
    names = sys.argv[2:] or sorted(path.name for path in (tests / "t").glob("*.t")) + ["testapp"]
    entries = left_out()
    wrong, counts = [], {"nvcached": [0, 0], "memcached": [0, 0]}
    with tempfile.TemporaryDirectory(prefix="nvcache_memcached_") as work:
        prepare(tests, work + "/nvcached", f"{os.path.abspath(sys.argv[1])} --medium=dram")
        prepare(tests, work + "/memcached", tests / "memcached-debug")
        with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
            runs = {name: [pool.submit(run_one, f"{work}/{server}", name) for server in counts]
                    for name in names}
            print(f"{'test':30}{'nvcached':>18}{'memcached':>18}", flush=True)
            for name, pair in runs.items():
                results = [run.result() for run in pair]
                cells = []
                for server, (passed, failed, early) in zip(counts, results):
                    counts[server][0] += len(passed)
                    counts[server][1] += len(failed)
                    cells.append("skipped" if early.startswith("skipped") else
                                 f"{len(passed)} of {len(passed) + len(failed)}" +
                                 ("!" if early else ""))
                problem = verdict(name, results[0], entries)
                if problem:
                    wrong.append(name)
                note = problem or (entries[name][1] if name in entries else "")
                print(f"{name:30}{cells[0]:>18}{cells[1]:>18}  {note}", flush=True)
    for server, (passed, failed) in counts.items():
        print(f"{server}: {passed} passed, {failed} failed")
    print(f"left out: {len(entries)} files, each with its reason (! ended early)")
    print("wrong: " + ", ".join(wrong) if wrong else "as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
