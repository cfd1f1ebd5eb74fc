#!/usr/bin/env python3
"""Runs Application.java, a Kafka Streams application which knows nothing of nvcache, with and
without libnvcache_jvm.so preloaded. Each of its stores has a cache, and each cache a tier.

usage: kafka_streams_test.py LIBNVCACHE_JVM.SO DAMAGING_CORE.SO ROCKSDBJNI.JAR KAFKA_FOLDER
Exit: 0 good, 1 bad, 77 skipped.
"""
import pathlib
import sys
import tempfile

from jvm_test import Program, beside, fail, skip_without

SPEC = "tiered://?tier=(name=shared,size=64MiB)"


def results(values):
    return {name: value for name, value in values.items() if not name.startswith("reads.")}


def main(library, damaging, jar, kafka):
    jars = sorted(pathlib.Path(kafka).glob("*.jar"))
    skip_without(jar, *(jars or [kafka]))
    with tempfile.TemporaryDirectory() as folder:
        classpath = ":".join([*map(str, jars), jar])
        program = Program(pathlib.Path(folder), pathlib.Path(library), classpath, "Application")
        own = program.values(without="state")
        ours = program.values(without="state", spec=SPEC)
        lower = program.last_stats()["tiers"][1]
        print(f"read calls of 20,000 queries: {own['reads.second']} with its own caches, "
              f"{ours['reads.second']} with tiers, which served {lower['hits']} blocks")
        if results(ours) != results(own):
            fail(f"other results: {own} and {ours}")
        if int(ours["reads.second"]) > int(own["reads.second"]) // 10:
            fail("the tiers saved less than nine of ten reads")

        # System.exit closes no store; the next application finds them, with tiers that are empty.
        if results(program.values("exit", without="state", spec=SPEC)) != results(own):
            fail(f"other results before an exit: {own}")
        if program.last_stats()["tiers"][1]["blocks"] == 0:
            fail("System.exit lost the statistics")
        again = program.values("query", spec=SPEC)
        if again["digest.queried"] != own["digest.queried"]:
            fail(f"other results after a restart: {own} and {again}")

        # With every saved block damaged, the results must differ, or the application fail.
        done, damaged = program.finished(without="state", spec=SPEC,
                                         library=beside(program, {"core": damaging}))
        if done.returncode == 0 and results(damaged) == results(own):
            fail("nobody noticed that saved blocks are damaged", done)
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
