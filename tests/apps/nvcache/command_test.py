#!/usr/bin/env python3
"""The command nvcache as a user meets it: help, examples, exit codes, and `bench`.

usage: command_test.py NVCACHE [NVBENCH]

NVCACHE_TEST_POLICIES names the library of examples/own_policies.cc.

Runs every example that the help shows, with less work where an option allows it. Without
NVBENCH, the tests that need it are left out.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

NVCACHE = os.path.abspath(sys.argv[1])
NVBENCH = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None

POLICIES = os.path.abspath(os.environ["NVCACHE_TEST_POLICIES"])

DONE, FAILED, USAGE = 0, 1, 2
COMMANDS = ([], ["calibrate"], ["inspect"], ["replay"], ["report"], ["top"])


def run(*words, program=NVCACHE, folder=None, path=None):
    env = dict(os.environ) if path is None else {**os.environ, "PATH": path}
    return subprocess.run([program, *words], cwd=folder, env=env, capture_output=True, text=True,
                          timeout=120, check=False)


def check(good, what):
    if not good:
        raise AssertionError(what)


def help_of(words):
    answer = run(*words, "--help")
    check(answer.returncode == DONE, f"{words} --help: exit code {answer.returncode}")
    return answer.stdout


def examples_in(text):
    """The command lines of a help text's examples, each as words without the program."""
    lines = text.replace("\\\n", " ").splitlines()
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("  nvcache ")]
    return [words[1:] for words in commands]


def test_every_help_shows_examples():
    for words in COMMANDS:
        check(examples_in(help_of(words)), f"{words} --help shows no example")
        check("Exit codes:" in help_of(words), f"{words} --help says no exit codes")
        check("modelled:" not in help_of(words), f"{words} --help: the word is emulated")


def test_examples_run():
    with tempfile.TemporaryDirectory() as folder:
        made = run("calibrate", "emulated:optane", "--json", "out.json", folder=folder)
        check(made.returncode == DONE, made.stderr)
        shutil.copy(f"{folder}/out.json", f"{folder}/optane.json")
        make_traces(folder)
        shutil.copy(POLICIES, f"{folder}/own_policies.so")
        for words in [example for command in COMMANDS for example in examples_in(help_of(command))]:
            words = [re.sub(r"\b4GiB", "8MiB", word.replace("/mnt/nvme", folder)) for word in words]
            if words[0] == "calibrate":
                words += ["--seconds", "0.01"]
            if "-" in words or "|" in words:
                continue  # test_replay_reads_a_pipe()
            if words[0] == "bench":
                if NVBENCH is None:
                    continue
                few = "--scale 4096" if words[1] == "simulate" else \
                    "--records 1000 --seconds 0.1 --warmup 0 --rounds 1"
                words += few.split()
            if words[0] == "top":
                words += ["--once"]
            answer = run(*words, folder=folder)
            # A machine may lack what an example needs: direct I/O, an engine, a cache that is
            # in regions or watched.
            # It must parse.
            needs_more = words[0] in ("bench", "inspect", "top") or "io=direct" in " ".join(words)
            good = answer.returncode != USAGE if needs_more else answer.returncode == DONE
            check(good, f"{shlex.join(words)}: exit code {answer.returncode}: {answer.stderr}")


def make_traces(folder):
    """A trace for each that the help names: two rounds of 4000 blocks."""
    keys = [key * 7919 % 4001 for key in range(8000)]
    lines = "".join(f"{key} 1 0 0\n" for key in keys).encode()
    pathlib.Path(folder, "trace.lis").write_bytes(lines)
    pathlib.Path(folder, "keys.txt").write_text("".join(f"{key}\n" for key in keys))
    pathlib.Path(folder, "b.csv").write_text(
        "id,size\n" + "".join(f"k{key},100\n" for key in keys))
    pathlib.Path(folder, "a.oracleGeneral").write_bytes(
        b"".join(struct.pack("<IQIq", 0, key, 4096, -1) for key in keys))
    shutil.copy(f"{folder}/trace.lis", f"{folder}/a.lis")
    for name in ("trace.lis", "a.oracleGeneral"):
        subprocess.run(["zstd", "-q", f"{folder}/{name}"], check=True)


def test_inspect_refuses_what_is_not_a_cache():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "odd").write_bytes(bytes(range(256)) * 8192)
        for words, code, told in (
                (["none"], FAILED, "none: No such file"),
                (["odd"], FAILED, "odd: no superblock of a cache in regions"),
                (["."], FAILED, "./nvcache.blocks: No such file"),
                (["/dev/null"], USAGE, "neither a file nor a block device"),
                (["dram"], USAGE, "is memory")):
            answer = run("inspect", *words, folder=folder)
            check(answer.returncode == code, f"{words}: {answer.returncode}: {answer.stderr}")
            check(told in answer.stderr, f"{words}: {answer.stderr}")


def test_replay_tells_hits_inserts_and_bytes():
    with tempfile.TemporaryDirectory() as folder:
        make_traces(folder)
        answer = run("replay", "keys.txt", "b.csv", "--dram", "0", "--tier", "5000", "--spec",
                     "always+lru", "--spec", "optimal", "--json", "out.json", "--html",
                     "out.html", folder=folder)
        check(answer.returncode == DONE, answer.stderr)
        check("keys.txt: 8000 accesses, 8000 lookups in the tier" in answer.stdout, answer.stdout)
        check("always+lru" in answer.stdout and ".500 /.50 " in answer.stdout, answer.stdout)
        check("mean of 2 traces" in answer.stdout, answer.stdout)
        with open(f"{folder}/out.json") as file:
            document = json.load(file)
        lru = document["traces"][1]["results"][0]
        check(lru["hits"] == 3999 and lru["inserts"] == 4001, lru)
        check(lru["written_bytes"] == 400100, lru)
        page = pathlib.Path(folder, "out.html").read_text()
        check('"kind":"replay"' in page, "the page lacks the data")
        again = run("report", "out.json", "--html", "again.html", folder=folder)
        check(again.returncode == DONE, again.stderr)


def test_replay_reads_a_pipe():
    keys = "".join(f"{key}\n" for key in list(range(1000)) * 2)
    words = [NVCACHE, "replay", "-", "--format", "text", "--spec", "always+lru"]
    answer = subprocess.run([*words, "--dram", "0", "--tier", "2000"], input=keys, text=True,
                            capture_output=True, timeout=120, check=False)
    check(answer.returncode == DONE and ".500 /.50" in answer.stdout, answer)
    answer = subprocess.run(words, input=keys, text=True, capture_output=True, timeout=120,
                            check=False)
    check(answer.returncode == USAGE and "in blocks, not in percent" in answer.stderr, answer)


def test_replay_names_what_is_wrong():
    with tempfile.TemporaryDirectory() as folder:
        make_traces(folder)
        pathlib.Path(folder, "bad.lis").write_text("x 1 0 0\n")
        pathlib.Path(folder, "odd.u64").write_bytes(bytes(8003))
        pathlib.Path(folder, "empty.lis").write_bytes(b"")
        for words, code, told in (
                (["none.lis"], FAILED, "none.lis: No such file"),
                (["bad.lis"], FAILED, "bad.lis: line 1: no access: x 1 0 0; format lis: the ARC"),
                (["empty.lis"], USAGE, "empty.lis: holds no access"),
                (["keys.log"], USAGE, "allowed: --format (oracleGeneral, csv, lis"),
                (["keys.txt", "--format", "best"], USAGE, "allowed: oracleGeneral, csv, lis"),
                (["keys.txt", "--columns", "1"], USAGE, "only csv has"),
                (["b.csv", "--columns", "1,2,3"], USAGE, "allowed: KEY or KEY,SIZE"),
                (["keys.txt", "--tier", "1%"], USAGE, "40 blocks of keys.txt, which has 4001"),
                (["keys.txt", "--tier", "much"], USAGE, "--tier 'much'; allowed: a share"),
                (["keys.txt", "--spec", "always+best"], USAGE, "--spec 'always+best': eviction"),
                (["keys.txt", "--spec", "size=1GiB"], USAGE, "--tier does that")):
            answer = run("replay", *words, folder=folder)
            check(answer.returncode == code, f"{words}: {answer.returncode}: {answer.stderr}")
            check(told in answer.stderr, f"{words}: {answer.stderr}")
        some = "".join(f"{block} 1 0 0\n" for block in range(300)) + "x 1 0 0\n"
        pathlib.Path(folder, "some.lis").write_text(some)
        odd = run("replay", "some.lis", "--dram", "0", "--tier", "200", folder=folder)
        check(odd.returncode == DONE, odd.stderr)
        check("left out: 1; the first: line 301: no access: x 1 0 0" in odd.stderr, odd.stderr)
        cut = run("replay", "odd.u64", "--dram", "0", "--tier", "500", folder=folder)
        check(cut.returncode == DONE, cut.stderr)
        check("byte 8003: it ends within an access; what comes before was replayed" in cut.stderr,
              cut.stderr)


def test_replay_with_policies_from_outside():
    with tempfile.TemporaryDirectory() as folder:
        make_traces(folder)
        shutil.copy(POLICIES, f"{folder}/own.so")
        pathlib.Path(folder, "text.so").write_text("no library")
        words = ["replay", "keys.txt", "--dram", "0", "--tier", "500"]
        answer = run(*words, "--policies", "own.so", "--spec", "up_to(8192)+coldest(3)", "--spec",
                     "always+lru", folder=folder)
        check(answer.returncode == DONE, answer.stderr)
        check("up_to(8192)+coldest(3)" in answer.stdout, answer.stdout)
        for more, told in (
                (["--spec", "always+coldest"], "'coldest': not known; allowed:"),
                (["--policies", "own.so", "--spec", "always+coldest(0)"],
                 "eviction member 'coldest(0)': allowed: a number from 1 to 100"),
                (["--policies", "own.so", "--policies", "own.so"], "there is one of this name"),
                (["--policies", "none.so"], "policies of 'none.so': ./none.so: cannot open"),
                (["--policies", "text.so"], "policies of 'text.so': ./text.so:"),
                (["--policies", "libdl.so.2"], "policies of 'libdl.so.2': ./libdl.so.2: cannot")):
            answer = run(*words, *more, folder=folder)
            check(answer.returncode == USAGE, f"{more}: {answer.returncode}: {answer.stderr}")
            check(told in answer.stderr, f"{more}: {answer.stderr}")


def test_a_wrong_command_line():
    for words in (["nonsense"], [], ["calibrate"], ["calibrate", "tape:"],
                  ["report", "--nonsense"]):
        answer = run(*words)
        check(answer.returncode == USAGE, f"{words}: exit code {answer.returncode}")
        check(answer.stderr or answer.stdout, f"{words}: says nothing")


def test_bench_is_nvbench():
    if NVBENCH is None:
        return
    text = help_of(["bench"])
    check("nvcache bench" in text and "ycsb" in text, text)
    check("bench" in help_of([]), "nvcache --help does not list bench")
    for words in (["bench", "nonsense"], ["bench"], ["bench", "ycsb", "--nonsense"]):
        answer = run(*words)
        check(answer.returncode == USAGE, f"{words}: exit code {answer.returncode}")


def test_simulate_says_its_new_name():
    answer = run("simulate", "--workload", "c")
    check(answer.returncode == USAGE and "nvcache bench simulate" in answer.stderr, answer)


def test_bench_without_nvbench():
    with tempfile.TemporaryDirectory() as folder:
        alone = shutil.copy(NVCACHE, folder)
        answer = run("bench", "ycsb", program=alone, folder=folder, path="")
        check(answer.returncode == FAILED, f"exit code {answer.returncode}")
        check(answer.stdout == "", answer.stdout)
        for word in ("nvcache bench:", "nvbench", folder, "PATH",
                     "cmake --preset install -DNVCACHE_EXPERIMENTS=ON"):
            check(word in answer.stderr, f"'{word}' is missing in: {answer.stderr}")
        # The rest of the command does not need it.
        check(run("--help", program=alone, path="").returncode == DONE, "--help fails")


def test_bench_takes_nvbench_from_path():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
        alone = shutil.copy(NVCACHE, folder)
        fake = pathlib.Path(elsewhere, "nvbench")
        fake.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n')
        fake.chmod(0o755)
        answer = run("bench", "ycsb", "a b", "--help", program=alone, path=elsewhere)
        check(answer.returncode == 7, f"exit code {answer.returncode}: {answer.stderr}")
        check(answer.stdout == "ycsb|a b|--help|", answer.stdout)


def test_no_engine_is_linked():
    libraries = run(NVCACHE, program="ldd")
    if libraries.returncode != DONE:
        return  # linked statically, or not for this system
    for engine in ("librocksdb", "libwiredtiger"):
        check(engine not in libraries.stdout, f"nvcache needs {engine}")


def main():
    failures = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            print(f"ok   {name}")
        except AssertionError as error:
            failures += 1
            print(f"FAIL {name}: {error}")
    sys.exit(1 if failures else 0)


main()
