#!/usr/bin/env python3
"""What the extension costs when it caches nothing: CPU time per operation of wtperf with it
(pass-through) and without it (WiredTiger's own file system), in turn.

usage: pass_through.py EXTENSION.SO [--pairs 5] [--seconds 10] [--workload read|mixed] [--db DIR]

Uniform reads (read), or as many updates beside them with a checkpoint each second (mixed), of a
480 MB table with a 50 MB cache and direct I/O. Prints each pair and the median ratio; as JSON with --json FILE.
WiredTiger is the one that script/wiredtiger keeps.
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

BASE = "type=file"
ROWS = 1_500_000
THREADS = {"read": "((count=4,reads=1))", "mixed": "((count=2,reads=1),(count=2,updates=1))"}


def wtperf(root, home, options, connection):
    """Runs wtperf; its operations and the CPU seconds it took."""
    file = home.parent / "options.wtperf"
    file.write_text("\n".join(options) + f'\nconn_config="{connection}"\n')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([root / "bin/wtperf", "-h", home, "-O", file], cwd=root / "bench/wtperf",
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"pass_through.py: wtperf failed:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = re.findall(r"Executed (\d+) (?:read|update) operations", (home / "test.stat").read_text())
    return sum(map(int, found)), cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extension", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--workload", choices=THREADS, default="read")
    parser.add_argument("--db", default="/var/tmp", help="folder for the temporary database")
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    extension = given.extension.resolve(strict=True)
    script = pathlib.Path(__file__).resolve().parents[2] / "script/wiredtiger"
    root = pathlib.Path(subprocess.run([script, "--root"], capture_output=True, text=True, check=True).stdout.strip())
    if not (root / "bin/wtperf").exists():
        sys.exit("pass_through.py: no wtperf: run script/wiredtiger first")

    work = pathlib.Path(tempfile.mkdtemp(prefix="nvcache-pass-", dir=given.db))
    try:
        loaded = work / "loaded"
        loaded.mkdir()
        common = [f'table_config="{BASE}"', f"icount={ROWS}", "value_sz=300"]
        connection = "cache_size=50M,direct_io=[data],checkpoint=(wait=1)"
        print(f"loading {ROWS} rows", flush=True)
        wtperf(root, loaded, common + ["populate_threads=1"], connection)
        run = common + ["create=false", f"run_time={given.seconds}", f"threads={THREADS[given.workload]}"]
        modes = {"stock": "", "pass-through": f",extensions=[{extension}=(early_load=true)]"}
        results = {name: [] for name in modes}
        for pair in range(given.pairs):
            for name, more in modes.items():
                home = work / "run"
                shutil.copytree(loaded, home)
                os.sync()  # or its writing back would be counted in the run
                operations, cpu = wtperf(root, home, run, connection + more)
                results[name].append({"operations": operations, "cpu_us_per_operation": 1e6 * cpu / operations})
                shutil.rmtree(home)
            a, b = (results[name][pair]["cpu_us_per_operation"] for name in modes)
            print(f"pair {pair + 1}: stock {a:.2f} us, pass-through {b:.2f} us per operation, ratio {b / a:.3f}", flush=True)
        ratios = [b["cpu_us_per_operation"] / a["cpu_us_per_operation"]
                  for a, b in zip(results["stock"], results["pass-through"])]
        print(f"{given.workload}: median ratio {statistics.median(ratios):.3f} "
              f"[{min(ratios):.3f}..{max(ratios):.3f}] of {given.pairs} pairs")
        if given.json:
            given.json.write_text(json.dumps({"workload": given.workload, "ratios": ratios, "runs": results}, indent=1))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
