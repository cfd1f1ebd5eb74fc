#!/usr/bin/env python3
"""Runs FlinkJob.java, a Flink job with keyed state which knows nothing of nvcache, in a local
cluster, with and without libnvcache_jvm.so preloaded: what it sends is equal, also after the
restore from a savepoint, and the tier spares its reads.

usage: flink_test.py LIBNVCACHE_JVM.SO DAMAGING_CORE.SO FROCKSDBJNI.JAR FLINK_FOLDER
Exit: 0 good, 1 bad, 77 skipped.
"""
import pathlib
import sys
import tempfile

from jvm_test import Program, beside, fail, skip_without

SPEC = "tiered://?tier=(name=shared,size=256MiB)"


class Job(Program):
    """Flink's network buffers alone want more than the others' heap."""

    def java(self, *arguments, properties=()):
        opens = [f"--add-opens=java.base/java.{each}=ALL-UNNAMED" for each in ("lang", "util")]
        words = super().java(*arguments, properties=properties)
        return [words[0], *opens, "-Xmx1g", *words[2:]]


def results(values):
    return {name: value for name, value in values.items() if name.startswith(("sent", "digest"))}


def main(library, damaging, jar, flink):
    jars = sorted(pathlib.Path(flink).glob("*.jar"))
    skip_without(jar, *(jars or [flink]))
    with tempfile.TemporaryDirectory() as folder:
        classpath = ":".join([*map(str, jars), jar])
        job = Job(pathlib.Path(folder), pathlib.Path(library), classpath, "FlinkJob")
        own = job.values(without="job")
        ours = job.values(without="job", spec=SPEC)
        lower = job.last_stats()["tiers"][1]
        print(f"read calls of the second run: {own['reads.second']} with its own cache, "
              f"{ours['reads.second']} with the tier, which served {lower['hits']} blocks")
        if results(ours) != results(own):
            fail(f"other results: {own} and {ours}")
        if int(ours["reads.second"]) > int(own["reads.second"]) // 10:
            fail("the tier saved less than nine of ten reads")

        # With every saved block damaged, the results must differ, or the job fail.
        done, damaged = job.finished(without="job", spec=SPEC,
                                     library=beside(job, {"core": damaging}))
        if done.returncode == 0 and results(damaged) == results(own):
            fail("nobody noticed that saved blocks are damaged", done)
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
