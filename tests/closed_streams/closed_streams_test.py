#!/usr/bin/env python3
"""Programs that are started without some of descriptors 0 to 2: none of ours takes their place,
where a message would reach it.

usage: closed_streams_test.py HOST NVCACHED NVCACHE [LIBNVCACHE_ROCKSDB]

HOST: host.c beside this file. With the library, db_bench runs with it preloaded, if it is here.
"""
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "apps" / "nvcached"))
from running_server import (LONG_SECONDS, Server, check, closing, equal,  # noqa: E402
                            fill, found, run, wait_until)

HOST, NVCACHED, NVCACHE = (os.path.abspath(each) for each in sys.argv[1:4])
ROCKSDB = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
SUBSETS = [subset for size in range(4) for subset in itertools.combinations(range(3), size)]
NO_MEDIUM = 200
MIB = 1 << 20


def links(process):
    """The files behind the descriptors of a process, by number."""
    folder = f"/proc/{process}/fd"
    result = {}
    for number in os.listdir(folder):
        try:
            result[int(number)] = os.readlink(f"{folder}/{number}")
        except OSError:  # closed since
            pass
    return result


def has_ended(process):
    """Whether or not its parent has asked how."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def host_programs():
    """A C program with a cache on each kind of medium."""
    # Direct I/O needs a disk.
    with tempfile.TemporaryDirectory(dir=os.environ.get("NVCACHE_TEST_DISK", "/var/tmp")) as folder:
        file = f"file:{folder}/blocks"
        media = {"dram": "medium=dram", "numa": "medium=numa:0", "buffered": f"medium={file}",
                 "in place": f"medium={file},io=dax", "direct": f"medium={file},io=direct",
                 "emulated": f"medium=emulated:optane,on={file}",
                 "regions": f"medium={file},io=direct&space=regions&size=64MiB",
                 "warm": f"medium={file},io=direct&space=regions&restart=warm&size=64MiB"}
        if device := loop_device(folder):
            media["device"] = f"medium=nvme:{device},format=yes"
        missing = set()
        try:
            for name, medium in media.items():
                size = "" if "size=" in medium else "&size=8MiB"
                for subset in SUBSETS:
                    code = subprocess.run(
                        [HOST, f"nvcache://?{medium}{size}&admission=always",
                         "".join(map(str, subset))], timeout=LONG_SECONDS, check=False).returncode
                    if code == NO_MEDIUM:
                        missing.add(name)
                        continue
                    equal((name, subset, code), (name, subset, 0))
        finally:
            if device:
                subprocess.run(["losetup", "-d", device], check=False)
    check(not missing & {"dram", "buffered", "warm"}, f"not opened: {missing}")
    print(f"of {', '.join(media)} not here: {', '.join(missing) or 'none'}", flush=True)


def loop_device(folder):
    """Path of a block device, or None where none can be made."""
    backing = f"{folder}/device"
    with open(backing, "wb") as file:
        file.truncate(32 * MIB)
    try:
        done = subprocess.run(["losetup", "-f", "--show", backing], capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def servers():
    """nvcached keeps its items over a restart, and what it prints is lost or in its log."""
    for subset in SUBSETS:
        with tempfile.TemporaryDirectory() as folder:
            for round_number in range(3):
                with Server(NVCACHED, "-m", "8", "-vv", folder=folder, closed=subset) as server:
                    if round_number > 0:
                        equal((subset, found(server, 200, 100)), (subset, 200))
                    fill(server, 200, 100)
                    low = {place: link for place, link in links(server.process.pid).items()
                           if place in subset}
                    equal(low, {place: "/dev/null" for place in subset})
                    server.process.send_signal(signal.SIGHUP)  # prints a line
                equal(server.process.returncode, 0)


def a_daemon():
    """In the background, where all three are /dev/null."""
    for subset in SUBSETS:
        with tempfile.TemporaryDirectory() as folder:
            pid_file = os.path.join(folder, "pid")
            with Server(NVCACHED, "-m", "8", "-d", "-P", pid_file, folder=folder, closed=subset,
                        wait=False) as server:
                equal((subset, server.wait()), (subset, 0))  # it serves
                number = int(pathlib.Path(pid_file).read_text())
                of = links(number)
                os.kill(number, signal.SIGTERM)
                equal((subset, [of.get(place) for place in range(3)]), (subset, ["/dev/null"] * 3))
                wait_until(lambda: has_ended(number), "it does not end")


def commands():
    """nvcache reads and writes files, and starts a program that unpacks."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.csv")
        with open(trace, "w", encoding="ascii") as file:
            file.write("time,key,size\n" + "".join(f"{i},{i % 500},4096\n" for i in range(2000)))
        if shutil.which("gzip"):
            subprocess.run(["gzip", "-k", trace], check=True)
            trace += ".gz"
        results = set()
        for subset in SUBSETS:
            result = os.path.join(folder, "result.json")
            run_one = subprocess.run(
                [NVCACHE, "replay", trace, "--spec", "always+clock", "--tier", "200", "--json",
                 result],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                preexec_fn=closing(subset), timeout=LONG_SECONDS, check=False)
            # Results that cannot be printed are a failure; the file is written all the same.
            equal((subset, run_one.returncode), (subset, 1 if 1 in subset else 0))
            results.add(os.path.getsize(result) > 0)
            os.unlink(result)
        equal(results, {True})


def db_bench():
    """A program of others with the library preloaded: its medium is elsewhere."""
    if ROCKSDB is None or shutil.which("db_bench") is None:
        return "no db_bench, or no library for it"
    with tempfile.TemporaryDirectory() as folder:
        medium = os.path.join(folder, "medium")
        for subset in SUBSETS:
            command = ["db_bench", "--benchmarks=fillseq,compact,readrandom",
                       f"--db={folder}/db", "--num=200000", "--value_size=100",
                       "--compression_type=none", "--cache_size=300000", "--threads=1",
                       f"--secondary_cache_uri=nvcache://?size=64MiB&medium=file:{medium}"
                       "&space=regions&restart=warm"]
            with subprocess.Popen(command, env={**os.environ, "LD_PRELOAD": ROCKSDB},
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, preexec_fn=closing(subset)) as bench:
                places = wait_until(
                    lambda: [place for place, link in links(bench.pid).items() if link == medium]
                    or bench.poll() is not None, "the medium is never open")
                check(places is not True, f"{subset}: it ended with {bench.returncode}")
                check(min(places) > 2, f"{subset}: the medium is descriptor {places}")
                bench.kill()
            shutil.rmtree(f"{folder}/db", ignore_errors=True)
    return None


sys.exit(run([host_programs, servers, a_daemon, commands, db_bench]))
