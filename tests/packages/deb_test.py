#!/usr/bin/env python3
"""Installs the Debian packages in a fresh root of that Debian, uses them as users would, upgrades,
removes and purges them. Runs as root.

usage: deb_test.py SUITE FOLDER_OF_PACKAGES BUILD_ROOT
  BUILD_ROOT   a root with the package's build dependencies and lintian

Exit: 0 good, 1 bad.
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ROOTS = SOURCE / "tools" / "debian_root.sh"
PACKAGES = ("libnvcache0", "libnvcache-dev", "nvcache", "nvcached", "libnvcache-rocksdb",
            "libnvcache-wiredtiger")
BY_PKG_CONFIG = ("c_quickstart.c", "cpp_quickstart.cc", "kv_store.cc", "engine_adapter.cc")
ITEMS = 2000
BEFORE = "~before"  # of a version: sorts before the version itself


def fail(what):
    sys.exit(f"FAILED: {what}")


class Root:
    """A fresh root, and what is done in it."""

    def __init__(self, suite, folder):
        minimal = subprocess.run([ROOTS, "make", suite, "minimal"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout.strip()
        self.path = folder / "root"
        subprocess.run([ROOTS, "copy", minimal, self.path], check=True)

    def run(self, *command, expect=0):
        done = subprocess.run([ROOTS, "run", self.path, *map(str, command)], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode != expect:
            fail(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-3000:]}"
                 f"{done.stderr[-3000:]}")
        return done.stdout

    def apt(self, *command):
        return self.run("apt-get", "-q", "-y", "--no-install-recommends", *command)

    def state_of(self, package):
        found = subprocess.run([ROOTS, "run", self.path, "dpkg-query", "-W",
                                "-f=${db:Status-Status} ${Version}", package], text=True,
                               capture_output=True, check=False)
        return found.stdout if found.returncode == 0 else "unknown"

    def files(self):
        """All that packages may leave behind: neither apt's own books nor what was tried."""
        own = ("proc/", "dev/", "sys/", "var/lib/dpkg/", "var/lib/apt/", "var/cache/", "var/log/",
               "tmp/", "run/")
        names = (str(path.relative_to(self.path)) for path in self.path.rglob("*"))
        return {name for name in names if not name.startswith(own)}


def descendant(ancestor, name):
    """The process of that name below another one."""
    parents, names = {}, {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = re.match(r"(\d+) \((.*)\) \S+ (\d+)", stat.read_text())
            names[int(fields[1])], parents[int(fields[1])] = fields[2], int(fields[3])
    for process in (process for process, found in names.items() if found == name):
        above = process
        while above in parents:
            above = parents[above]
            if above == ancestor:
                return process
    return fail(f"no {name} below process {ancestor}")


class Nvcached:
    """The service, started by the unit's own line, as its user."""

    def __init__(self, root):
        self.root = root
        unit = (root.path / "usr/lib/systemd/system/nvcached.service").read_text()
        line = re.search(r"^ExecStart=(.*)$", unit, re.M)[1]
        user = re.search(r"^User=(.*)$", unit, re.M)[1]
        options = re.search(r'^NVCACHED_OPTIONS="(.*)"', (
            root.path / "etc/default/nvcached").read_text(), re.M)[1]
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port = free.getsockname()[1]
        command = line.replace("${STATE_DIRECTORY}", "/var/lib/nvcached").replace(
            "$NVCACHED_OPTIONS", options).split()
        self.process = subprocess.Popen(
            [ROOTS, "run", root.path, "runuser", "-u", user, "--", *command, "-p", str(self.port)])
        while True:  # until it answers, or has ended
            if self.process.poll() is not None:
                fail(f"nvcached ended with {self.process.returncode}")
            try:
                self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        self.stream = self.socket.makefile("rwb")

    def fill(self):
        for i in range(ITEMS):
            self.stream.write(b"set key%d 0 0 8\r\n%08d\r\n" % (i, i))
        self.stream.flush()
        if any(self.stream.readline() != b"STORED\r\n" for _ in range(ITEMS)):
            fail("nvcached did not store an item")

    def found(self):
        count = 0
        for i in range(ITEMS):
            self.stream.write(b"get key%d\r\n" % i)
            self.stream.flush()
            if self.stream.readline() == b"END\r\n":
                continue
            if self.stream.readline() != b"%08d\r\n" % i or self.stream.readline() != b"END\r\n":
                fail(f"nvcached has another value for key{i}")
            count += 1
        return count

    def end(self, number):
        """By a signal to the server, which the root's init lies in between of."""
        self.socket.close()
        os.kill(descendant(self.process.pid, "nvcached"), number)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def older(package, into):
    """The same package, of a version before."""
    unpacked = into / "unpacked"
    subprocess.run(["dpkg-deb", "-R", package, unpacked], check=True)
    control = unpacked / "DEBIAN" / "control"
    text = control.read_text()
    version = re.search(r"^Version: (.*)$", text, re.M)[1]
    control.write_text(text.replace(version, version + BEFORE))
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", unpacked, into / package.name],
                   check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(unpacked)


def check_lintian(build_root, folder):
    place = pathlib.Path(build_root) / "tmp" / "packages"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place)
    done = subprocess.run(
        [ROOTS, "run", build_root, "bash", "-c",
         "runuser -u nobody -- lintian --fail-on error,warning --tag-display-limit 0 "
         "/tmp/packages/*.changes"], text=True, capture_output=True, check=False)
    shutil.rmtree(place)
    print(done.stdout, end="")
    if done.returncode != 0:
        fail(f"lintian\n{done.stderr}")


def check_programs(root):
    for program in ("nvcache", "nvcached"):
        if "0." not in root.run(program, "--version"):
            fail(f"{program} --version says no version")
    if root.run("dpkg", "--verify", *PACKAGES):
        fail("dpkg --verify finds changes")
    place = root.path / "var/lib/nvcached"
    if place.stat().st_mode & 0o777 != 0o700:
        fail(f"{place} may be read by others")


def check_examples(root):
    """By CMake and by pkg-config, in a root that has no Abseil."""
    root.apt("install", "g++", "cmake", "ninja-build", "pkgconf", "librocksdb-dev", "libgtest-dev",
             "rocksdb-tools")
    if "absl" in root.run("dpkg-query", "-W", "-f=${Package}\n").replace("libabsl-", "absl"):
        fail("the root has Abseil")
    for folder in ("examples", "tests/install"):
        shutil.copytree(SOURCE / folder, root.path / "tmp" / folder)
    root.run("cmake", "-S", "/tmp/tests/install", "-B", "/tmp/outside", "-G", "Ninja",
             "-DEXAMPLES=/tmp/examples")
    root.run("cmake", "--build", "/tmp/outside")
    for program in ("from_c", "from_cpp", "kv_store", "engine_adapter", "own_policies",
                    "own_policies_test", "from_rocksdb"):
        root.run(f"/tmp/outside/{program}")
    for name in BY_PKG_CONFIG:
        compiler = "cc" if name.endswith(".c") else "c++ -std=c++20"
        root.run("sh", "-c", f"{compiler} /tmp/examples/{name} -o /tmp/example "
                             "$(pkg-config --cflags --libs nvcache) && /tmp/example")
    print("the examples were built by CMake and by pkg-config, and run")


def check_rocksdb(root):
    """The stock db_bench."""
    said = root.run(
        "env", "LD_PRELOAD=libnvcache_rocksdb.so", "db_bench", "--db=/tmp/db", "--num=100000",
        "--benchmarks=fillseq,compact,readrandom", "--cache_size=1048576", "--statistics",
        "--secondary_cache_uri=nvcache://?size=64MiB&admission=always")
    hits = re.search(r"rocksdb.secondary.cache.hits COUNT : (\d+)", said)
    if not hits or int(hits[1]) == 0:
        fail(f"db_bench: no hit in the second tier\n{said[-2000:]}")
    print("db_bench: hits in the second tier:", hits[1])


def check_service_and_upgrade(root, new):
    default = root.path / "etc/default/nvcached"
    default.write_text(default.read_text().replace("-m 64", "-m 65"))
    with Nvcached(root) as server:
        server.fill()
        server.end(signal.SIGTERM)
    root.apt("install", *new)
    for package in PACKAGES:
        state = root.state_of(package)
        if not state.startswith("installed") or state.endswith(BEFORE):
            fail(f"after the upgrade {package} is {state}")
    if "-m 65" not in default.read_text():
        fail("the upgrade lost the user's options")
    with Nvcached(root) as server:
        found = server.found()
        if found != ITEMS:
            fail(f"after the upgrade {found} of {ITEMS} items are there")
        server.end(signal.SIGKILL)
    with Nvcached(root) as server:
        if server.found() != ITEMS:
            fail("items are gone after kill -9")
        server.end(signal.SIGTERM)
    print(f"{ITEMS} items are there after an upgrade and after kill -9")


def check_removal(root, before):
    root.apt("remove", *PACKAGES)
    if not (root.path / "var/lib/nvcached/data").exists():
        fail("remove took the items away")
    if not (root.path / "etc/default/nvcached").exists():
        fail("remove took the options away")
    root.run("dpkg", "--purge", *PACKAGES)  # apt knows no package that left no options
    root.apt("autoremove", "--purge")
    users = {f"etc/{name}{dash}" for name in ("passwd", "group", "shadow", "gshadow", "subuid",
                                              "subgid") for dash in ("", "-")}
    left = sorted(root.files() - before - users)
    left = [name for name in left if "nvcache" in name]
    if left:
        fail(f"purge left {left}")
    print("purge leaves nothing")


def main(suite, folder, build_root):
    packages = sorted(pathlib.Path(folder).resolve().glob("*.deb"))
    packages = [path for path in packages if "-dbgsym_" not in path.name]
    if sorted(path.name.split("_")[0] for path in packages) != sorted(PACKAGES):
        fail(f"other packages than {PACKAGES}: {packages}")
    check_lintian(build_root, folder)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as temporary:
        root = Root(suite, pathlib.Path(temporary))
        before = root.files()
        for name in ("old", "new"):
            (root.path / "tmp" / name).mkdir()
        for package in packages:
            older(package, root.path / "tmp" / "old")
            shutil.copy(package, root.path / "tmp" / "new")
        root.run("apt-get", "update", "-q")
        root.apt("install", *(f"/tmp/old/{path.name}" for path in packages))
        check_programs(root)
        check_examples(root)
        check_rocksdb(root)
        check_service_and_upgrade(root, [f"/tmp/new/{path.name}" for path in packages])
        check_removal(root, before)
    print(f"{suite}: ok")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
