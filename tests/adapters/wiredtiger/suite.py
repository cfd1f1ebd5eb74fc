#!/usr/bin/env python3
"""Runs WiredTiger's own test suite with nvcache's extension in every open, and without it. Fails if
a test fails with the extension and not without it. hook_nvcache.py loads it.

usage: suite.py EXTENSION [GROUP...]     EXTENSION: libnvcache_wiredtiger.so
       suite.py EXTENSION --control      with a fault: an extension that must fail tests

GROUP: what run.py takes, e.g. base, txn19. Without: those whose tests read and write data files.
Skips (77) where the suite cannot be had.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
GROUPS = ["base", "backup", "bulk", "checkpoint", "compact", "cursor", "drop", "encrypt", "import",
          "readonly", "rename", "salvage", "truncate", "txn", "util", "verify"]
CONTROL_GROUPS = ["cursor"]
RESULT = re.compile(r"\]: (test_.+?) \.\.\. (\w+)", re.M)


def run(suite, folder, group, extension):
    """The fate of each test; seconds."""
    command = ["/usr/bin/python3", suite / "test" / "suite" / "run.py", "-v", "2", "-j",
               str(os.cpu_count()), "-D", os.path.join(folder, "data"), "--timeout", "900"]
    if extension:
        command += ["--hook", f"nvcache={extension}"]
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).parent),
                       LD_LIBRARY_PATH=str(suite / "build"))
    began = time.time()
    log = os.path.join(folder, f"{group}.{'nvcache' if extension else 'stock'}.log")
    with open(log, "w+", encoding="utf-8", errors="replace") as file:
        subprocess.run([*command, group], cwd=suite / "build", env=environment, stdout=file,
                       stderr=subprocess.STDOUT, check=False)
        file.seek(0)
        text = file.read()
    results = dict(RESULT.findall(text))
    ran = re.search(r"^Ran (\d+) tests?", text, re.M)
    if not results or ran is None:
        raise RuntimeError(f"{group} did not run: {text[-2000:]}")
    return results, time.time() - began, text


def bad(results):
    return {name for name, result in results.items() if result in ("FAIL", "ERROR")}


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0
    got = subprocess.run([ROOT / "script" / "wiredtiger_tests"], check=False)
    if got.returncode != 0:
        return 77
    suite = pathlib.Path(subprocess.run([ROOT / "script" / "wiredtiger_tests", "--root"],
                                        capture_output=True, text=True,
                                        check=True).stdout.strip())
    extension = os.path.abspath(sys.argv[1])
    control = sys.argv[2:] == ["--control"]
    groups = CONTROL_GROUPS if control else sys.argv[2:] or GROUPS
    wrong, ran, passed = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="nvcache_wiredtiger_") as folder:
        print(f"{'group':12}{'tests':>8}{'skipped':>9}{'stock fails':>13}{'nvcache fails':>15}"
              f"{'seconds':>9}", flush=True)
        for group in groups:
            stock, stock_s, _ = run(suite, folder, group, None)
            ours, ours_s, text = run(suite, folder, group, extension)
            more = bad(ours) - bad(stock)
            missing = set(stock) - set(ours)
            ran += len(ours)
            passed += sum(result == "ok" for result in ours.values())
            skipped = sum(result.startswith("skip") for result in ours.values())
            print(f"{group:12}{len(ours):8,}{skipped:9,}{len(bad(stock)):13,}{len(bad(ours)):15,}"
                  f"{stock_s + ours_s:9,.0f}", flush=True)
            for name in sorted(more | missing):
                wrong.append(name)
                print(f"  {'not run' if name in missing else 'fails'}: {name}")
                at = text.find(f"{ours.get(name)}: {name}")
                if at >= 0 and not control:
                    print(text[at:at + 3000])
    print(f"total: {passed:,} of {ran:,} passed with nvcache; {len(wrong)} fail that stock passes")
    if control:
        return 0 if wrong else 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
