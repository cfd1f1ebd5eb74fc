#!/usr/bin/env python3
"""Several copies of RocksDB's library in one process (Copies.java), with libnvcache_jvm.so
preloaded. Each gets a cache of its own, and every value is right.

usage: jvm_copies_test.py LIBNVCACHE_JVM.SO ROCKSDBJNI.JAR...
Exit: 0 good, 1 bad, 77 skipped.
"""
import pathlib
import subprocess
import sys
import tempfile

from jvm_test import CACHE, KEYS, TIER, TIME_OUT, Program, fail, skip_without


def main(library, jars):
    skip_without(*jars)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        Program(work / "classes", pathlib.Path(library), jars[0])  # compiles Drive
        program = Program(work, pathlib.Path(library), work, "Copies")
        (work / "db").mkdir()
        command = program.java(f"{work / 'classes'}/", str(work / "db"), *jars,
                               properties=[f"keys={KEYS}", f"cache={CACHE}"])
        done = subprocess.run(command, text=True, timeout=TIME_OUT, capture_output=True,
                              env=program.environment(TIER, None, True), check=False)
        lines = done.stdout.splitlines()
        if done.returncode != 0 or lines.count("verified") != len(jars):
            fail("a copy did not end well", done)
        if "nvcache:" in done.stderr:
            fail("a message", done)
        served = [int(line.split("=")[1]) for line in lines
                  if line.startswith("secondary_cache_hits=")]
        print("blocks that the tier served, by copy:", *served)
        if len(served) != len(jars) or 0 in served:
            fail("a copy has no tier", done)
        if program.last_stats()["tiers"][1]["hits"] < sum(served):
            fail("the statistics lack a copy", done)
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
