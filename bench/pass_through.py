#!/usr/bin/env python3
"""Measures what the extension costs: operations per second and CPU time per operation of wtperf
with the extension and without it (WiredTiger's own file system), in pairs. The extension caches
nothing (pass-through), or what --cache says.

usage: pass_through.py EXTENSION.SO [--cache SPEC] [--pairs 5] [--seconds 10]
                       [--workload read|mixed|FILE.wtperf] [--db DIR]

Workloads on a 480 MB table with a 50 MB cache and direct I/O: uniform reads (read), or the same
with as many updates and a checkpoint each second (mixed); or a file. The pairs take
turns in which program runs first. Prints each pair and the medians of the pairs' ratios; --json
FILE writes them as JSON. Uses the WiredTiger that script/wiredtiger keeps.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROWS = 1_500_000
THREADS = {"read": "((count=4,reads=1))", "mixed": "((count=2,reads=1),(count=2,updates=1))"}


def wtperf(root, home, options, connection):
    """Runs wtperf; its operations and the CPU seconds it took."""
    file = home.parent / "options.wtperf"
    file.write_text("\n".join(options) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([root / "bin/wtperf", "-h", home, "-O", file, "-C", connection],
                          cwd=root / "bench/wtperf",
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"pass_through.py: wtperf failed:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = re.findall(r"Executed (\d+) (?:read|update|insert) operations",
                       (home / "test.stat").read_text())
    return sum(map(int, found)), cpu


def own_workload(name):
    """Options and connection of one of the two built-in workloads."""
    return ['table_config="type=file"', f"icount={ROWS}", "value_sz=300", "populate_threads=1",
            f"threads={THREADS[name]}",
            'conn_config="cache_size=50M,direct_io=[data],checkpoint=(wait=1)"']


def spread(ratios):
    return f"{statistics.median(ratios):.3f} [{min(ratios):.3f}..{max(ratios):.3f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extension", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--workload", default="read", help="read, mixed or a .wtperf file")
    parser.add_argument("--cache", help="specification of a cache; default: none, pass-through")
    parser.add_argument("--db", default="/var/tmp", help="folder for the temporary database")
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    extension = given.extension.resolve(strict=True)
    script = pathlib.Path(__file__).resolve().parents[2] / "script/wiredtiger"
    printed = subprocess.run([script, "--root"], capture_output=True, text=True, check=True).stdout
    root = pathlib.Path(printed.strip())
    if not (root / "bin/wtperf").exists():
        sys.exit("pass_through.py: no wtperf: run script/wiredtiger first")

    work = pathlib.Path(tempfile.mkdtemp(prefix="nvcache-pass-", dir=given.db))
    try:
        loaded = work / "loaded"
        loaded.mkdir()
        if given.workload in THREADS:
            options = own_workload(given.workload)
        else:
            options = pathlib.Path(given.workload).read_text().splitlines()
        compressor = f"{root}/ext/compressors/snappy/libwiredtiger_snappy.so"
        snappy = compressor if any("snappy" in o for o in options) else ""
        print("loading", flush=True)
        wtperf(root, loaded, options + ["run_time=0"], f"extensions=[{snappy}]")
        run = options + ["create=false", f"run_time={given.seconds}"]
        cache = f',config=(cache=\\"{given.cache}\\")' if given.cache else ""
        with_it = "cache" if given.cache else "pass-through"
        modes = {"stock": snappy, with_it: f"{extension}=(early_load=true{cache}),{snappy}"}
        results = {name: [] for name in modes}
        for pair in range(given.pairs):
            for name in list(modes)[::-1 if pair % 2 else 1]:
                home = work / "run"
                shutil.copytree(loaded, home)
                os.sync()  # or its writing back would be counted in the run
                operations, cpu = wtperf(root, home, run, f"extensions=[{modes[name]}]")
                results[name].append(
                    {"operations": operations, "cpu_us_per_operation": 1e6 * cpu / operations})
                shutil.rmtree(home)
            a, b = (results[name][pair] for name in modes)
            print(f"pair {pair + 1}: stock {a['operations'] / given.seconds:.0f}/s, "
                  f"{a['cpu_us_per_operation']:.2f} us; "
                  f"{with_it} {b['operations'] / given.seconds:.0f}/s, "
                  f"{b['cpu_us_per_operation']:.2f} us CPU per operation", flush=True)
        pairs = list(zip(results["stock"], results[with_it]))
        ratios = {what: [b[what] / a[what] for a, b in pairs]
                  for what in ("operations", "cpu_us_per_operation")}
        print(f"{given.workload}, {with_it} / stock, {given.pairs} pairs: "
              f"operations {spread(ratios['operations'])}, "
              f"CPU per operation {spread(ratios['cpu_us_per_operation'])}")
        if given.json:
            given.json.write_text(json.dumps({"workload": given.workload, "cache": given.cache,
                                              "ratios": ratios,
                                              "runs": results}, indent=1))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
