#!/usr/bin/env python3
"""Builds the Maven module adapters/jvm, without a network, with its own tests; then runs a program
of these tests (Program.java) on the jar, which verifies every value that it reads.

usage: maven_module_test.py LIBNVCACHE_JVM.SO[:FOR_ANOTHER_PROCESSOR...] DAMAGING_CORE.SO
                            REPOSITORY FOLDER GROUP:ARTIFACT:VERSION NVCACHE_VERSION
  REPOSITORY   for Maven; script/rocksdb_jni fills it
  FOLDER       a copy of the module goes there, for Maven writes beside its sources
Exit: 0 good, 1 bad, 77 skipped.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile

from jvm_test import TIME_OUT, fail

MODULE = pathlib.Path(__file__).resolve().parents[3] / "adapters" / "jvm"
SPEC = "tiered://?dram=2MiB&tier=(size=64MiB)"
PROCESSORS = {62: "x86_64", 183: "aarch64"}
STAGES = ("rocksdb_8_10_old", "rocksdb_9_7_old", "rocksdb_9_7_new")


def skip(why):
    print("skipped:", why, "(script/rocksdb_jni)")
    sys.exit(77)


def package(folder, repository, libraries, rocksdbjni, scratch):
    """The jar. Maven ran the module's tests; none was skipped."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(MODULE, folder, ignore=shutil.ignore_patterns("target"))
    group, artifact, version = rocksdbjni.split(":")
    done = subprocess.run(
        ["mvn", "--offline", "--quiet", "--batch-mode", f"-Dmaven.repo.local={repository}",
         f"-Dnvcache.libraries={libraries}", f"-Dnvcache.tmp={scratch}",
         f"-Drocksdbjni.group={group}", f"-Drocksdbjni.artifact={artifact}",
         f"-Drocksdbjni.version={version}", "package"],
        cwd=folder, text=True, timeout=2 * TIME_OUT, capture_output=True, check=False)
    if done.returncode != 0:
        fail("mvn package", done)
    counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for report in (folder / "target" / "surefire-reports").glob("TEST-*.xml"):
        suite = xml.etree.ElementTree.parse(report).getroot()
        for name in counts:
            counts[name] += int(suite.get(name))
    print("JUnit:", *(f"{value} {name}" for name, value in counts.items()))
    if counts["tests"] < 10 or counts["skipped"] != 0:
        fail("the module's tests did not run", done)
    jars = list((folder / "target").glob("nvcache-jvm-*.jar"))
    if len(jars) != 1:
        fail(f"not one jar: {jars}")
    return jars[0]


def processor_of(library):
    return PROCESSORS[int.from_bytes(library[18:20], "little")]


def check_jar(jar, version, libraries):
    if jar.name != f"nvcache-jvm-{version}.jar":
        fail(f"{jar.name} is not of the version {version} of CMakeLists.txt")
    with zipfile.ZipFile(jar) as opened:
        names = opened.namelist()
        found = {name: processor_of(opened.read(name)) for name in names if name.endswith(".so")}
    parts = ["libnvcache_jvm.so", "nvcache/libnvcache_jvm_core.so",
             *(f"nvcache/libnvcache_jvm_{stage}.so" for stage in STAGES)]
    wanted = {f"nvcache/native/Linux-{processor}/{part}": processor for part in parts
              for processor in (processor_of(library.read_bytes()) for library in libraries)}
    if found != wanted:
        fail(f"the jar's libraries and their processors are {found}, not {wanted}")
    if any(name.startswith("org/") for name in names):
        fail(f"something of RocksDB in {names}")


class Module:
    def __init__(self, jar, rocksdbjni, scratch):
        self.classpath = [jar, jar.parent / "test-classes", rocksdbjni]
        self.scratch = scratch

    def run(self, command, first=(), **environment):
        """Runs Program, which finds libraries in the folder `first` before those of the jar."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("NVCACHE_")}
        return subprocess.run(
            ["java", "-Xmx256m", f"-Djava.io.tmpdir={self.scratch}",
             "-cp", ":".join(map(str, [*first, *self.classpath])), "nvcache.Program",
             str(self.scratch), SPEC, command],
            text=True, timeout=TIME_OUT, capture_output=True, check=False,
            env=kept | environment)

    def read(self, **environment):
        done = self.run("read", **environment)
        found = re.search(r"^tier_hits=(\d+)$", done.stdout, re.M)
        if done.returncode != 0 or "verified" not in done.stdout or not found:
            fail(f"{environment}: the program did not end well", done)
        if "nvcache:" in done.stderr:
            fail(f"{environment}: a message", done)
        if int(found[1]) == 0:
            fail(f"{environment}: no block came from the tier", done)
        if "cores=1" not in done.stdout.splitlines():
            fail(f"{environment}: not one nvcache in the process", done)
        return int(found[1])


def with_parts(library, scratch, parts):
    """A folder for the class path, whose libraries are these but for `parts`."""
    built, classes = scratch / "built", scratch / "classes"
    shutil.rmtree(built, ignore_errors=True)
    shutil.copytree(library.parent / "nvcache", built / "nvcache")
    shutil.copy(library, built)
    for name, path in parts.items():
        shutil.copy(path, built / "nvcache" / f"libnvcache_jvm_{name}.so")
    subprocess.run([MODULE / "native.sh", built, classes], check=True)
    return [classes]


def check_layout(module, library, version, scratch):
    """Code for another version of RocksDB refuses to work with this one: an exception says so."""
    wrong = {"8": "rocksdb_9_7_old", "9": "rocksdb_8_10_old", "10": "rocksdb_8_10_old",
             "11": "rocksdb_9_7_old"}[version.split(".")[0]]
    stage = library.parent / "nvcache" / f"libnvcache_jvm_{wrong}.so"
    first = with_parts(library, scratch, {name: stage for name in STAGES})
    done = module.run("refused", first)
    if done.returncode != 0 or "another layout than expected" not in done.stdout:
        fail("another layout: no clear exception", done)


def check_version(module, repository):
    """A version that no code is written for."""
    old = repository / "org/rocksdb/rocksdbjni/8.8.1/rocksdbjni-8.8.1.jar"
    done = module.run("refused", [old])
    if done.returncode != 0 or "RocksDB 8.8.1 of the old ABI is not supported" not in done.stdout:
        fail("8.8.1: no clear exception", done)


def check_folders(library, scratch):
    """A folder without the libraries, or with one that was built without a JDK, is refused."""
    empty, older = scratch / "empty", scratch / "older"
    empty.mkdir()
    older.mkdir()
    (older / library.name).touch()
    twice = f"{library.parent}:{library.parent}"
    for folder, word in ((empty, "no libnvcache_jvm.so in"), (older, "built without a JDK"),
                         (twice, f"libraries for {os.uname().machine} already")):
        done = subprocess.run([MODULE / "native.sh", folder, scratch / "classes"], text=True,
                              capture_output=True, check=False)
        if done.returncode != 1 or word not in done.stderr:
            fail(f"native.sh takes {folder}", done)


def check_control(module, library, damaging, scratch):
    """With every saved block damaged, the program must find a wrong value."""
    done = module.run("read", with_parts(library, scratch, {"core": damaging}))
    if done.returncode != 3 or "wrong value" not in done.stderr:
        fail("nobody noticed that saved blocks are damaged", done)


def check_preloaded(module, library, scratch):
    """With the preloaded library there is one nvcache: its statistics have all caches."""
    hits = module.read(LD_PRELOAD=str(library), NVCACHE_TIERED=SPEC,
                       NVCACHE_STATS_JSON=str(scratch / "stats.%p"))
    written = [json.loads(path.read_text()) for path in scratch.glob("stats.*")]
    if len(written) != 1 or written[0]["tiers"][1]["hits"] < hits:
        fail(f"{hits} tier hits are not in the statistics: {written}")


def main(libraries, damaging, repository, folder, rocksdbjni, version):
    libraries = [pathlib.Path(library).resolve() for library in libraries.split(":")]
    library, repository = libraries[0], pathlib.Path(repository)
    group, artifact, jni_version = rocksdbjni.split(":")
    jni = (repository / group.replace(".", "/") / artifact / jni_version
           / f"{artifact}-{jni_version}.jar")
    if not shutil.which("mvn") or not shutil.which("javac"):
        skip("no JDK, or no Maven")
    if not jni.exists():
        skip(f"no {jni}")
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        folders = ":".join(str(library.parent) for library in libraries)
        jar = package(pathlib.Path(folder), repository, folders, rocksdbjni, scratch)
        check_jar(jar, version, libraries)
        module = Module(jar, jni, scratch)
        print("blocks that the tier served to a program on the jar:", module.read())
        check_preloaded(module, library, scratch)
        check_layout(module, library, jni_version, scratch)
        check_version(module, repository)
        check_folders(library, scratch)
        check_control(module, library, damaging, scratch)
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    main(*sys.argv[1:])
