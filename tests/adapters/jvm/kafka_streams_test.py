#!/usr/bin/env python3
"""Runs Application.java, a Kafka Streams application which knows nothing of nvcache, with and
without libnvcache_jvm.so preloaded. Each of its stores has a cache, and each cache a tier.

usage: kafka_streams_test.py LIBNVCACHE_JVM.SO DAMAGING_CORE.SO ROCKSDBJNI.JAR KAFKA_FOLDER
Exit: 0 good, 1 bad, 77 skipped.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from jvm_test import TIME_OUT, Program, beside, fail, skip_without

SPEC = "tiered://?tier=(name=shared,size=64MiB)"


def finished(program, *arguments, **options):
    """What it did, and what it printed of itself. Its stores are empty, unless it queries them."""
    if "query" not in arguments:
        shutil.rmtree(program.work / "state", ignore_errors=True)
    done = subprocess.run(program.java(*arguments), text=True, timeout=TIME_OUT,
                          capture_output=True, check=False,
                          env=program.environment(options.get("spec"), options.get("library"),
                                                  stats="spec" in options))
    values = dict(line.split("=") for line in done.stdout.splitlines() if "=" in line)
    return done, values


def run(program, *arguments, **options):
    done, values = finished(program, *arguments, **options)
    if done.returncode != 0 or "done" not in done.stdout.splitlines():
        fail(f"{options}: the application did not end well", done)
    if "nvcache:" in done.stderr:
        fail(f"{options}: a message", done)
    return values


def results(values):
    return {name: value for name, value in values.items() if not name.startswith("reads.")}


def main(library, damaging, jar, kafka):
    jars = sorted(pathlib.Path(kafka).glob("*.jar"))
    skip_without(jar, *(jars or [kafka]))
    with tempfile.TemporaryDirectory() as folder:
        classpath = ":".join([*map(str, jars), jar])
        program = Program(pathlib.Path(folder), pathlib.Path(library), classpath, "Application")
        own = run(program)
        ours = run(program, spec=SPEC)
        lower = program.last_stats()["tiers"][1]
        print(f"read calls of 20,000 queries: {own['reads.second']} with its own caches, "
              f"{ours['reads.second']} with tiers, which served {lower['hits']} blocks")
        if results(ours) != results(own):
            fail(f"other results: {own} and {ours}")
        if int(ours["reads.second"]) > int(own["reads.second"]) // 10:
            fail("the tiers saved less than nine of ten reads")

        # System.exit closes no store; the next application finds them, with tiers that are empty.
        if results(run(program, "exit", spec=SPEC)) != results(own):
            fail(f"other results before an exit: {own}")
        if program.last_stats()["tiers"][1]["blocks"] == 0:
            fail("System.exit lost the statistics")
        again = run(program, "query", spec=SPEC)
        if again["digest.queried"] != own["digest.queried"]:
            fail(f"other results after a restart: {own} and {again}")

        # With every saved block damaged, the results must differ, or the application fail.
        done, damaged = finished(program, spec=SPEC, library=beside(program, {"core": damaging}))
        if done.returncode == 0 and results(damaged) == results(own):
            fail("nobody noticed that saved blocks are damaged", done)
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
