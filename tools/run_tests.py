#!/usr/bin/env python3
"""Runs the tests of a build folder by ctest, and tells a fault from a test that fails by chance.

usage: run_tests.py run OUT STAGE BUILD [CTEST_ARGUMENT...]
       run_tests.py judge OUT STAGE...
       run_tests.py flakes OUT ROUNDS STAGE BUILD [CTEST_ARGUMENT...]
       run_tests.py --self-test

run      Runs a stage's tests once. Notes what failed in OUT/STAGE.json, all that ctest printed in
         OUT/STAGE.ctest.log. Exit: 0, unless nothing could be run.
judge    Runs each test that failed three times more, by itself: call it when nothing else runs. A
         test that passes all three is unstable. At most two unstable tests are let pass; their
         first logs are in OUT/unstable. Exit: 0 if the run is good, else 1. The last line counts.
flakes   Runs the tests ROUNDS times, in another order each time, while other work keeps the
         processors and the disk busy. Prints a table of what failed; the first log of each is in
         OUT/flakes. Exit: 0 if nothing failed.

Never run again: what a sanitizer reported, a process that crashed or ran out of time, a test with
the label `exact`, and any test if more than eight failed.

Environment: NVCACHE_TEST_JOBS, tests at once (twice the processors).
"""
import argparse
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

MOST_UNSTABLE = 2
MOST_JUDGED = 8
RUNS_BY_ITSELF = 3
# A name may end with dots itself, where GoogleTest cuts a parameter short.
RESULT = re.compile(r"^ *\d+/\d+ Test +#(\d+): (.+?) (?:\.{2,} *)+(.*?) +\d+\.\d+ sec$")
REPORT = re.compile(r"(ERROR|WARNING): (Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer"
                    r"|runtime error: |^CRASH ", re.M)


@dataclasses.dataclass
class Failure:
    number: int  # of ctest
    name: str
    status: str  # as ctest says: ***Failed, ***Timeout, ...
    output: str


@dataclasses.dataclass
class Results:
    passed: int = 0
    skipped: int = 0
    failures: list = dataclasses.field(default_factory=list)


def jobs():
    return os.environ.get("NVCACHE_TEST_JOBS") or str(2 * (os.cpu_count() or 1))


def parse(log):
    """The results in what ctest printed. The output of a test that failed follows its line."""
    results = Results()
    latest = None
    for line in log.splitlines():
        match = RESULT.match(line)
        if not match:
            if latest is not None:
                latest.output += line + "\n"
            continue
        number, name, status = int(match[1]), match[2], match[3]
        latest = None
        if status == "Passed":
            results.passed += 1
        elif "Skipped" in status or "Disabled" in status:
            results.skipped += 1
        else:
            latest = Failure(number, name, status, "")
            results.failures.append(latest)
    for failure in results.failures:
        failure.output = re.split(r"^ +Start +\d+: |^\d+% tests passed", failure.output,
                                  maxsplit=1, flags=re.M)[0].rstrip()
    return results


def ctest(build, arguments, log=None):
    """Runs tests. Returns the results."""
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error",
               *arguments]
    with open(log, "w+", encoding="utf-8", errors="replace") if log else \
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False,
                              stdin=subprocess.DEVNULL).returncode
        out.seek(0)
        text = out.read()
    results = parse(text)
    if code != 0 and not results.failures:
        last = "\n".join(text.splitlines()[-20:])
        raise RuntimeError(f"ctest ended with {code} and ran nothing that failed:\n{last}")
    return results


def labels_of(build):
    """The labels of each test, by its number."""
    command = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    labels = {}
    for number, test in enumerate(json.loads(listed)["tests"], start=1):
        for each in test.get("properties", []):
            if each["name"] == "LABELS":
                labels[number] = each["value"]
    return labels


def print_failure(stage, failure):
    print(f"\n{stage}: {failure.name} {failure.status}")
    lines = failure.output.splitlines()
    if len(lines) > 60:
        lines = lines[:30] + [f"[... {len(lines) - 60} lines: see {stage}.ctest.log]"] + lines[-30:]
    print("\n".join(lines), flush=True)


def run(out, stage, build, arguments):
    out.mkdir(parents=True, exist_ok=True)
    note = {"build": str(build), "passed": 0, "skipped": 0, "failures": []}
    try:
        results = ctest(build, ["-j", jobs(), *arguments], out / f"{stage}.ctest.log")
        labels = labels_of(build) if results.failures else {}
        note.update(passed=results.passed, skipped=results.skipped)
        for failure in results.failures:
            print_failure(stage, failure)
            note["failures"].append(dict(dataclasses.asdict(failure),
                                         labels=labels.get(failure.number, [])))
        print(f"{stage}: {results.passed} passed, {len(results.failures)} failed, "
              f"{results.skipped} skipped")
        return 0
    except (RuntimeError, ValueError, KeyError) as error:
        print(f"{stage}: {error}")
        note["failures"].append({"number": 0, "name": "ctest", "status": "ran nothing",
                                 "output": str(error), "labels": []})
        return 1
    finally:
        (out / f"{stage}.json").write_text(json.dumps(note, indent=1))


def why_final(failure):
    """Why the test is not run again, or ''."""
    if failure["status"] != "***Failed":
        return "a process crashed, ran out of time or was not there"
    if REPORT.search(failure["output"]):
        return "a sanitizer's report, or a crash"
    if "exact" in failure["labels"]:
        return "its label is exact"
    return ""


def passes_by_itself(build, number):
    for _ in range(RUNS_BY_ITSELF):
        if ctest(build, ["-I", f"{number},{number}"]).failures:
            return False
    return True


def file_name(stage, name):
    return f"{stage}.{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)}.log"


def judge(out, stages):
    passed = failed = skipped = 0
    judged, unstable, wrong = [], [], []
    for stage in stages:
        path = out / f"{stage}.json"
        if not path.exists():
            wrong.append(f"{stage}: nothing was run")
            continue
        note = json.loads(path.read_text())
        passed += note["passed"]
        skipped += note["skipped"]
        for failure in note["failures"]:
            final = why_final(failure)
            if final:
                wrong.append(f"{stage}: {failure['name']}: {final}")
            else:
                judged.append((stage, note["build"], failure))
    if len(judged) > MOST_JUDGED:
        wrong += [f"{stage}: {failure['name']}" for stage, _, failure in judged]
        judged = []
    shutil.rmtree(out / "unstable", ignore_errors=True)
    for stage, build, failure in judged:
        if not passes_by_itself(build, failure["number"]):
            wrong.append(f"{stage}: {failure['name']}: fails by itself, too")
            continue
        (out / "unstable").mkdir(exist_ok=True)
        log = out / "unstable" / file_name(stage, failure["name"])
        log.write_text(failure["output"] + "\n")
        unstable.append(f"{stage}: {failure['name']}: passed {RUNS_BY_ITSELF} times by itself; "
                        f"its first log: {log}")
    for each in unstable:
        print(f"unstable: {each}")
    if len(unstable) > MOST_UNSTABLE:
        wrong += unstable
        print(f"more than {MOST_UNSTABLE} tests are unstable")
    else:
        passed += len(unstable)
    for each in wrong:
        print(f"failed: {each}")
    failed = len(wrong)
    print(f"total: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


@contextlib.contextmanager
def load(folder):
    """Keeps each processor busy, and writes to the disk that the folder is on."""
    done = threading.Event()

    def write():
        path = folder / "load"
        block = os.urandom(1 << 20)
        while not done.is_set():
            with open(path, "wb", buffering=0) as file:
                for _ in range(64):
                    file.write(block)
                    if done.is_set():
                        break
                os.fsync(file.fileno())
        path.unlink(missing_ok=True)

    # They end with this process, however that ends.
    busy_work = ("import os\nparent = os.getppid()\n"
                 "while os.getppid() == parent:\n    for _ in range(1_000_000): pass\n")
    busy = [subprocess.Popen([sys.executable, "-c", busy_work])
            for _ in range(os.cpu_count() or 1)]
    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()
        for each in busy:
            each.kill()
            each.wait()


def flakes(out, rounds, stage, build, arguments):
    folder = out / "flakes"
    folder.mkdir(parents=True, exist_ok=True)
    counts = collections.Counter()
    ran = 0
    with load(folder):
        for number in range(1, rounds + 1):
            began = time.monotonic()
            results = ctest(build, ["-j", jobs(), "--schedule-random", *arguments],
                            folder / f"{stage}.ctest.log")
            ran += results.passed + len(results.failures)
            for failure in results.failures:
                counts[failure.name] += 1
                log = folder / file_name(stage, failure.name)
                if counts[failure.name] == 1:
                    log.write_text(f"{failure.status}\n{failure.output}\n")
            names = ", ".join(failure.name for failure in results.failures)
            print(f"{stage}, round {number} of {rounds}: {results.passed} passed, "
                  f"{len(results.failures)} failed in {time.monotonic() - began:.0f} s"
                  f"{': ' + names if names else ''}", flush=True)
    if counts:
        print(f"\n{'failures':>8}  {'stage':8}  test (first logs: {folder})")
    for name, count in counts.most_common():
        print(f"{count:8}  {stage:8}  {name}")
    print(f"{stage}: {sum(counts.values())} failures of {len(counts)} tests in {ran} runs of tests")
    return 1 if counts else 0


# ---- its own test


def self_test():
    """A build folder of shell commands for each case. `once NAME WHAT` does WHAT the first time."""
    once = 'test -e "$0.done" || {{ touch "$0.done"; {}; }}'
    race = "echo 'WARNING: ThreadSanitizer: data race (pid=1)'; exit 66"
    cases = {  # what the tests do: the exit code of judge, its last line, words in its output
        "all pass": ([("good", "true", "")], 0, "total: 1 passed, 0 failed, 0 skipped", ""),
        "a skipped one": ([("good", "true", ""), ("skips", "exit 77", "")], 0,
                          "total: 1 passed, 0 failed, 1 skipped", ""),
        "always fails": ([("bad", "echo why; exit 1", ""), ("good", "true", "")], 1,
                         "total: 1 passed, 1 failed, 0 skipped", "bad: fails by itself, too"),
        "a name with dots": ([("A/B.c/0  # GetParam() = <50-44 ...", "true", "")], 0,
                             "total: 1 passed, 0 failed, 0 skipped", ""),
        "fails once": ([("A/B.c/0", once.format("exit 1"), "kv")], 0,
                       "total: 1 passed, 0 failed, 0 skipped", "unstable: stage: A/B.c/0"),
        "fails every other time": (
            [("odd", 'if test -e "$0.x"; then rm "$0.x"; else touch "$0.x"; exit 1; fi', "")], 1,
            "total: 0 passed, 1 failed, 0 skipped", "odd: fails by itself, too"),
        "exact, fails once": ([("strict", once.format("exit 1"), "kv;exact")], 1,
                              "total: 0 passed, 1 failed, 0 skipped", "its label is exact"),
        "a sanitizer's report once": ([("race", once.format(race), "")], 1,
                                      "total: 0 passed, 1 failed, 0 skipped", "sanitizer"),
        "a crash once": ([("crash", once.format("kill -SEGV $$"), "")], 1,
                         "total: 0 passed, 1 failed, 0 skipped", "crashed"),
        "a time-out once": ([("hangs", once.format("exec sleep 60"), "")], 1,
                            "total: 0 passed, 1 failed, 0 skipped", "ran out of time"),
        "two are unstable": ([(f"t{i}", once.format("exit 1"), "") for i in range(2)], 0,
                             "total: 2 passed, 0 failed, 0 skipped", "unstable: stage: t1"),
        "three are unstable": ([(f"t{i}", once.format("exit 1"), "") for i in range(3)], 1,
                               "total: 0 passed, 3 failed, 0 skipped", "more than 2"),
        "nine fail once": ([(f"t{i}", once.format("exit 1"), "") for i in range(9)], 1,
                           "total: 0 passed, 9 failed, 0 skipped", ""),
        "no test at all": ([], 1, "total: 0 passed, 1 failed, 0 skipped", ""),
    }
    wrong = 0
    for name, (tests, code, last, words) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            got_code, printed = judged_once(pathlib.Path(folder), tests)
        lines = printed.splitlines()
        if (got_code, lines[-1]) != (code, last) or words not in printed:
            wrong += 1
            print(f"WRONG {name}: exit {got_code}, printed\n{printed}")
    print(f"{len(cases) - wrong} of {len(cases)} cases are right")
    return 1 if wrong else 0


def judged_once(folder, tests):
    build, out = folder / "build", folder / "out"
    build.mkdir()
    lines = []
    for name, script, labels in tests:
        place = str(build / re.sub(r"\W", "_", name))
        lines.append(f'add_test([=[{name}]=] /bin/sh -c [=[{script}]=] "{place}")')
        lines.append(f'set_tests_properties([=[{name}]=] PROPERTIES TIMEOUT 2 LABELS "{labels}" '
                     "SKIP_RETURN_CODE 77)")
    (build / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
    me = [sys.executable, __file__]
    subprocess.run([*me, "run", out, "stage", build], capture_output=True, check=False)
    done = subprocess.run([*me, "judge", out, "stage"], capture_output=True, text=True, check=False)
    logs = sorted((out / "unstable").glob("*")) if (out / "unstable").exists() else []
    unstable = [line for line in done.stdout.splitlines() if line.startswith("unstable: ")]
    if len(logs) != len(unstable):
        return -1, f"{done.stdout}\n{len(logs)} logs of {len(unstable)} unstable tests"
    return done.returncode, done.stdout + done.stderr


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("what", choices=["run", "judge", "flakes"])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    words = given.words
    if given.what == "judge":
        return judge(given.out, words)
    if given.what == "run":
        return run(given.out, words[0], words[1], words[2:])
    return flakes(given.out, int(words[0]), words[1], words[2], words[3:])


if __name__ == "__main__":
    sys.exit(main())
