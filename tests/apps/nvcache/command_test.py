#!/usr/bin/env python3
"""The command nvcache as a user meets it: help, examples, exit codes, and `bench`.

usage: command_test.py NVCACHE [NVBENCH]

Runs every example that the help shows, with less work where an option allows it. Without
NVBENCH, the tests that need it are left out.
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

NVCACHE = os.path.abspath(sys.argv[1])
NVBENCH = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None

DONE, FAILED, USAGE = 0, 1, 2
COMMANDS = ([], ["calibrate"], ["report"])


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
        for words in [example for command in COMMANDS for example in examples_in(help_of(command))]:
            words = [word.replace("/mnt/nvme", folder).replace("4GiB", "8MiB") for word in words]
            if words[0] == "calibrate":
                words += ["--seconds", "0.01"]
            if words[0] == "bench":
                if NVBENCH is None:
                    continue
                words += "--records 1000 --seconds 0.1 --warmup 0 --rounds 1".split()
            answer = run(*words, folder=folder)
            # A machine may lack what an example needs: direct I/O, an engine. It must parse.
            needs_more = words[0] == "bench" or "io=direct" in " ".join(words)
            good = answer.returncode != USAGE if needs_more else answer.returncode == DONE
            check(good, f"{shlex.join(words)}: exit code {answer.returncode}: {answer.stderr}")


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
