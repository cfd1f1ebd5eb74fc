#!/usr/bin/env python3
"""Runs Drive.java, which knows nothing of nvcache, on an unpatched rocksdbjni with
libnvcache_jvm.so preloaded. The program verifies every value that it reads.

usage: jvm_test.py LIBNVCACHE_JVM.SO DAMAGING_CORE.SO ROCKSDBJNI.JAR
Exit: 0 good, 1 bad, 77 skipped.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

KEYS = 16000  # of 1000 bytes
CACHE = 2 << 20
TIER = "tiered://?tier=(size=64MiB)"
TIME_OUT = 400  # seconds, on a machine that does much else


def fail(message, done=None):
    print("FAILED:", message)
    if done is not None:
        print(done.stdout[-4000:], done.stderr[-4000:])
    sys.exit(1)


def skip_without(*jars):
    missing = [jar for jar in jars if not os.path.exists(jar)]
    if not shutil.which("javac") or missing:
        print("skipped: no JDK, or no", " ".join(map(str, missing)), "(script/rocksdb_jni)")
        sys.exit(77)


def source_of(name):
    """Of a program of this folder, or of one that nvbench runs, too."""
    here = pathlib.Path(__file__).resolve().parent
    experiments = here.parents[2] / "experiments" / "java"
    return next(folder / f"{name}.java" for folder in (here, experiments)
                if (folder / f"{name}.java").exists())


class Program:
    """A Java program, with the jars of `classpath`."""

    def __init__(self, work, library, classpath, name="Drive"):
        self.work, self.library, self.name = work, library, name
        self.classpath = f"{classpath}:{work}"
        work.mkdir(exist_ok=True)
        source = source_of(name)
        subprocess.run(["javac", "-cp", classpath, "-sourcepath", source.parent, "-d", work,
                        source], check=True)

    def java(self, *arguments, properties=()):
        return ["java", "-Xmx256m", f"-Djava.io.tmpdir={self.work}",
                *(f"-D{each}" for each in properties), "-cp", self.classpath, self.name,
                *arguments]

    def command(self, database, words, properties):
        return self.java(str(self.work / database), *words,
                         properties=[f"keys={KEYS}", f"cache={CACHE}", *properties])

    def environment(self, spec, library, stats):
        env = {name: value for name, value in os.environ.items() if not name.startswith("NVCACHE_")}
        if spec is not None:
            env |= {"LD_PRELOAD": str(library or self.library), "NVCACHE_TIERED": spec}
        if stats:
            env |= {"NVCACHE_STATS_JSON": str(self.work / "stats-%p.json"),
                    "NVCACHE_STATS_PROMETHEUS": str(self.work / "stats"),
                    "NVCACHE_STATS_SECONDS": "0.1"}
        return env

    def run(self, database, words, spec=None, properties=(), library=None, stats=False):
        return subprocess.run(self.command(database, words, properties), text=True,
                              timeout=TIME_OUT, env=self.environment(spec, library, stats),
                              capture_output=True, check=False)

    def counts(self, database, words, **options):
        """Returns its output. Every value was right."""
        done = self.run(database, words, **options)
        if done.returncode != 0 or "verified" not in done.stdout.splitlines():
            fail(f"{words}: the program did not end well", done)
        if "nvcache:" in done.stderr:
            fail(f"{words}: a message", done)
        return {name: int(value) for name, value in
                (line.split("=") for line in done.stdout.splitlines() if "=" in line)}

    def finished(self, *arguments, properties=(), spec=None, library=None, without=None):
        """Returns its work, and its words on itself. The folder `without` is removed before."""
        if without is not None:
            shutil.rmtree(self.work / without, ignore_errors=True)
        done = subprocess.run(self.java(*arguments, properties=properties), text=True,
                              timeout=TIME_OUT, capture_output=True, check=False,
                              env=self.environment(spec, library, stats=spec is not None))
        values = dict(line.split("=") for line in done.stdout.splitlines() if "=" in line)
        return done, values

    def values(self, *arguments, **options):
        """Returns its words on itself. It ended well."""
        done, values = self.finished(*arguments, **options)
        if done.returncode != 0 or "done" not in done.stdout.splitlines():
            fail(f"{options}: the program did not end well", done)
        if "nvcache:" in done.stderr:
            fail(f"{options}: a message", done)
        return values

    def last_stats(self):
        """Of the last process that wrote some; those of the others are removed."""
        found = sorted(self.work.glob("stats-*.json"), key=os.path.getmtime)
        if not found:
            fail("no statistics were written")
        stats = json.loads(found[-1].read_text())
        process = found[-1].stem.removeprefix("stats-")
        text = (self.work / f"stats.{process}").read_text()
        for path in self.work.glob("stats*"):
            path.unlink()
        if "\nnvcache_tiered_lookups_total " not in "\n" + text:
            fail("no Prometheus text was written")
        return stats


def check_reads(program):
    """The tier serves what the program's own cache cannot: the second time nearly all."""
    words = ["reads=16000", "reads=16000"]
    own = program.counts("db", words)
    ours = program.counts("db", words, spec=TIER, stats=True)
    stats = program.last_stats()
    lower = stats["tiers"][1]
    print(f"read calls of the second 16,000 gets: {own['reads.read_calls']} with its own cache, "
          f"{ours['reads.read_calls']} with the tier; {ours['secondary_cache_hits']} tier hits")
    if ours["reads.read_calls"] > own["reads.read_calls"] // 10:
        fail("the tier saved less than nine of ten reads")
    if ours["secondary_cache_hits"] == 0 or lower["hits"] == 0:
        fail("no block came from the tier")
    clock = program.counts("db", words, spec=TIER, properties=["clock=true"])
    if clock["secondary_cache_hits"] == 0:
        fail("no block came from the tier in place of a HyperClockCache")


def check_file(program):
    """A cache that closes gives its file to the next one. Two at once: the second has no tier."""
    spec = f"tiered://?tier=(size=64MiB,medium=file:{program.work / 'tier'})"
    program.counts("db", ["reads=8000", "reopen", "reads=8000"], spec=spec, stats=True)
    stats = program.last_stats()
    if stats["tiers"][1]["hits"] == 0 or "problem" in stats["tiers"][1]:
        fail("no block came from a tier on a file")
    if stats["tiers"][1]["blocks"] != 0 or stats["lookups"] == 0:
        fail("of closed caches the totals alone must stay")
    nowhere = f"tiered://?tier=(size=64MiB,medium=file:{program.work / 'none' / 'tier'})"
    done = program.run("db", ["reads=8000", "reopen", "reads=8000"], spec=nowhere)
    lines = [line for line in done.stderr.splitlines() if line.startswith("nvcache:")]
    if done.returncode != 0 or "verified" not in done.stdout:
        fail("the program does not go on without its tier", done)
    if len(lines) != 1 or "tier 1 is off: " not in lines[0] or "none" not in lines[0]:
        fail("not one clear line on the file that cannot be opened", done)


def check_warm(program):
    """A tier with a name serves the next process, after an end in order and after System.exit."""
    spec = (f"tiered://?tier=(name=shared,size=64MiB,medium=file:{program.work / 'warm'},"
            "space=regions,region=128KiB,restart=warm)")
    words = ["reads=16000"]
    cold = program.counts("db", words, spec=spec)["block_cache_miss"]
    program.counts("db", ["exit=20000"], spec=spec)
    warm = program.counts("db", words, spec=spec)["block_cache_miss"]
    print(f"misses of the first 16,000 gets: {cold} with a cold tier, {warm} with a warm one")
    if warm > cold // 4:
        fail("the tier did not come back")


def check_work(program):
    for properties in ([], ["strict=true", "cache=8388608"], ["cache=none"], ["cache=0"]):
        shutil.copytree(program.work / "db", program.work / "churned")
        program.counts("churned", ["churn=4000", "multi=200", "iterators=64", "scan", "reopen",
                                   "reads=3000"], spec=TIER, properties=properties)
        shutil.rmtree(program.work / "churned")


def check_ends(program):
    """System.exit closes no cache, and kill -9 less than that. Both leave statistics."""
    for _ in range(3):
        program.counts("db", ["exit=20000"], spec=TIER, stats=True)
        if program.last_stats()["tiers"][1]["hits"] == 0:
            fail("System.exit lost the statistics")
    running = subprocess.Popen(program.command("db", ["run"], []), stdout=subprocess.PIPE,
                               text=True, env=program.environment(TIER, None, True))
    running.stdout.readline()
    while not list(program.work.glob("stats.*[0-9]")):
        if running.poll() is not None:
            fail("the program ended by itself")
        time.sleep(0.01)
    running.kill()
    running.communicate()
    program.last_stats()
    program.counts("db", ["reads=8000", "scan"], spec=TIER)


def check_wrong(program):
    """One line on stderr, and RocksDB's own cache."""
    for spec, word in (("tiered://?tier=(size=nonsense)", "size"), ("nothing", "nothing"),
                       (f"tiered://?tier=(size=64MiB,medium=file:{program.work}/tier,"
                        "space=regions,restart=warm)", "restart")):
        done = program.run("db", ["reads=2000", "reopen", "reads=2000"], spec=spec)
        lines = [line for line in done.stderr.splitlines() if line.startswith("nvcache:")]
        if done.returncode != 0 or "verified" not in done.stdout:
            fail(f"{spec}: RocksDB's own cache does not go on", done)
        if len(lines) != 1 or word not in lines[0] or "own cache goes on" not in lines[0]:
            fail(f"{spec}: not one clear line", done)
        if "secondary_cache_hits=0" not in done.stdout:
            fail(f"{spec}: nvcache served something", done)


def check_unasked(program):
    """Without a specification it is as if the library were not there."""
    done = program.run("db", ["reads=2000"], spec="")
    if done.returncode != 0 or "verified" not in done.stdout or "nvcache" in done.stderr:
        fail("without a specification: the program did not end well", done)
    if "secondary_cache_hits=0" not in done.stdout:
        fail("without a specification: nvcache served something", done)


def beside(program, parts):
    """The preloaded library with other parts beside it."""
    folder = program.work / "beside"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(program.library.parent / "nvcache", folder / "nvcache")
    shutil.copy(program.library, folder)
    for name, path in parts.items():
        shutil.copy(path, folder / "nvcache" / f"libnvcache_jvm_{name}.so")
    return folder / program.library.name


def check_layout(program):
    """Code for another version of RocksDB refuses to work with this one, and says so."""
    names = ("rocksdb_8_10_old", "rocksdb_9_7_old", "rocksdb_9_7_new")
    stages = {name: program.library.parent / "nvcache" / f"libnvcache_jvm_{name}.so"
              for name in names}
    version = 8 if "-8.10" in program.classpath else 11 if "-11." in program.classpath else 9
    wrong = {8: "rocksdb_9_7_old", 9: "rocksdb_8_10_old", 11: "rocksdb_9_7_old"}[version]
    library = beside(program, {name: stages[wrong] for name in names})
    done = program.run("db", ["reads=2000"], spec=TIER, library=library)
    lines = [line for line in done.stderr.splitlines() if line.startswith("nvcache:")]
    if done.returncode != 0 or "verified" not in done.stdout:
        fail("another layout: RocksDB's own cache does not go on", done)
    if len(lines) != 1 or "another layout" not in lines[0] or "own cache goes on" not in lines[0]:
        fail("another layout: not one clear line", done)


def check_control(program, damaging):
    """With every saved block damaged, the program must find a wrong value."""
    library = beside(program, {"core": damaging})
    done = program.run("db", ["reads=16000"], spec=TIER, library=library)
    if done.returncode != 3 or "wrong value" not in done.stdout:
        fail("nobody noticed that saved blocks are damaged", done)


def check_needs(library):
    """Every process that inherits LD_PRELOAD loads the library: it must bring no other along."""
    done = subprocess.run(["readelf", "-d", library], text=True, capture_output=True, check=False)
    if done.returncode == 0 and "libstdc++" in done.stdout:
        fail("the preloaded library needs libstdc++", done)


def main(library, damaging, jar):
    skip_without(jar)
    check_needs(library)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(pathlib.Path(folder), pathlib.Path(library), jar)
        program.counts("db", ["fill"])
        check_reads(program)
        check_file(program)
        check_warm(program)
        check_work(program)
        check_ends(program)
        check_wrong(program)
        check_unasked(program)
        check_layout(program)
        check_control(program, damaging)
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
