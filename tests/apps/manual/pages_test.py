#!/usr/bin/env python3
"""The manual pages and completions that the programs print of themselves.

usage: pages_test.py PROGRAM...     of nvcached, nvcache, nvbench
       pages_test.py --control PROGRAM...   prove that spoiled pages are found

Looks for groff, mandoc, zsh and fish; says so of each check that it leaves out.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import shells

CONTROL = "--control" in sys.argv
PROGRAMS = {pathlib.Path(each).name: os.path.abspath(each)
            for each in sys.argv[1:] if not each.startswith("--")}
FORMS = ("man", "bash", "zsh", "fish")
# The letters of memcached 1.6: memcached -h.
MEMCACHED_LETTERS = set("pUslaAdurmMckvhiVPteLDfnCbBIFXWYZSoRN")
NVCACHED_SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "DATA", "SIGNALS",
                     "EXIT STATUS", "FILES", "ENVIRONMENT", "SYSTEMD", "NOTES", "LICENSE",
                     "SEE ALSO"]


def check(good, what):
    if not good:
        raise AssertionError(what)


def run(*words, folder=None, **environment):
    return subprocess.run(words, cwd=folder, env={**os.environ, **environment}, text=True,
                          capture_output=True, timeout=60, check=False)


def generated(program, form, **how):
    answer = run(PROGRAMS[program], f"--generate={form}", **how)
    check(answer.returncode == 0 and not answer.stderr, f"{program}: {answer}")
    return answer.stdout


def help_of(program, *command):
    answer = run(PROGRAMS[program], *command, "--help")
    check(answer.returncode == 0, f"{program} {command} --help: {answer.stderr}")
    return answer.stdout


def options_in_help(text):
    """-p and --port of "-p, --port=NUM  ..." and of "  -h,--help  ..."."""
    found = set()
    for line in text.splitlines():
        usage = re.match(r"(?:  )?(-\w|--[\w-]+)(?:, ?(--[\w-]+))?(?=[ =\n]|$)", line)
        if usage:
            found |= {name for name in usage.groups() if name}
    return found


def plain(roff):
    """A line of the page's source without fonts and escapes."""
    return re.sub(r"\\f[BIR]", "", roff).replace("\\-", "-").replace("\\&", "")


def options_in_page(page):
    """The options of each part of a page: of the program by "", of commands by their names."""
    found, part = {"": set()}, ""
    lines = page.splitlines()
    for line, following in zip(lines, lines[1:]):
        if line.startswith(".SH"):
            part = "" if line == ".SH OPTIONS" else None
        heading = re.match(r'\.SS "\w+ ([\w\\-]+)"$', line) if part != "" else None
        if heading or line == ".SH COMMANDS":
            part = plain(heading.group(1)) if heading else "-"
            found.setdefault(part, set())
        if line == ".TP" and part is not None and following.startswith("\\fB\\-"):
            usage = plain(following).split("=")[0]
            found[part] |= set(re.findall(r"(?:^|, )(-\w\b|--[\w-]+)", usage))
    return found


def commands_in_help(text):
    behind = text.partition("\nSubcommands:\n")[2]
    return re.findall(r"^  ([\w-]+)", behind.partition("\n\n")[0], re.M)


def forwarded(program):
    return {"bench"} if program == "nvcache" else set()


def faults_of_options(program, page):
    """Where a page and the help of its program name other options."""
    there = options_in_page(page)
    for command in [""] + commands_in_help(help_of(program)):
        wanted = set()
        if command not in forwarded(program):
            wanted = options_in_help(help_of(program, *command.split()))
        check(wanted or command in forwarded(program), f"{program} {command}: no option in --help")
        for name in wanted ^ there.get(command, set()):
            yield f"{program} {command}: {name} is in one of --help and the page"


def faults_of_roff(page):
    """The complaints of the formatters about a page."""
    with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
        file.write(page)
        file.flush()
        for command in (["groff", "-ww", "-man", "-Tutf8", "-z"],
                        ["mandoc", "-Tlint", "-W", "warning"]):
            if shutil.which(command[0]) is None:
                continue
            answer = run(*command, file.name)
            if answer.returncode or answer.stderr or "mandoc:" in answer.stdout:
                yield f"{command[0]}: {answer.stderr}{answer.stdout}"


def faults_of_words(program, script):
    """Which long options of --help bash does not offer, and the reverse."""
    unused = set()
    if program == "nvcached":  # without effect: known, and not offered
        unused = options_in_help(help_of(program).rpartition("Options of memcached that")[2])
    with tempfile.TemporaryDirectory() as folder:
        for command in [""] + commands_in_help(help_of(program)):
            if command in forwarded(program):
                continue
            line = f"{program} {command} --".replace("  ", " ")
            offered = {word.rstrip("=") for word in shells.bash(script, line, folder)}
            known = options_in_help(help_of(program, *command.split())) - unused
            for name in {name for name in known if name.startswith("--")} ^ offered:
                yield f"{line}: {name} is in one of --help and the completions"


def without_option(page, word):
    """A page, or a script, that does not know an option."""
    return page.replace(f"\\-\\-{word}", "\\-\\-other").replace(f"--{word}", "--other")


def test_a_page_is_the_same_everywhere():
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            for form in FORMS:
                text = generated(program, form)
                again = generated(program, form, folder=folder, TZ="Asia/Tokyo", LC_ALL="C",
                                  HOME=folder, SOURCE_DATE_EPOCH="1")
                check(text == again, f"{program} --generate={form} differs by place and time")
                for path in (str(pathlib.Path(PROGRAMS[program]).parent.parent), os.getcwd()):
                    check(path == "/" or path not in text, f"{program}, {form}: names {path}")


def test_an_unknown_form_is_refused():
    for program in PROGRAMS:
        answer = run(PROGRAMS[program], "--generate=info")
        check(answer.returncode == (64 if program == "nvcached" else 2), answer)
        check("info" in answer.stderr and "fish" in answer.stderr, answer.stderr)


def test_a_page_that_cannot_be_written_is_an_error():
    for program in PROGRAMS:
        with open("/dev/full", "w") as full:
            answer = subprocess.run([PROGRAMS[program], "--generate=man"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        check(answer.returncode == 1 and "cannot write" in answer.stderr, f"{program}: {answer}")


def test_formatters_have_nothing_to_say():
    formatters = [name for name in ("groff", "mandoc") if shutil.which(name)]
    if not formatters:
        return "neither groff nor mandoc is installed"
    for program in PROGRAMS:
        page = generated(program, "man")
        faults = list(faults_of_roff(page))
        if CONTROL:
            spoiled = page.replace(".fi\n", "", 1) + ".XX \\*[none]\n"
            faults = [] if len(list(faults_of_roff(spoiled))) == len(formatters) else ["missed"]
        check(not faults, f"{program}: {faults}")
    return None


def test_a_page_has_the_options_of_the_help_and_no_other():
    for program in PROGRAMS:
        page = generated(program, "man")
        check(not list(faults_of_options(program, page)), list(faults_of_options(program, page)))
        if CONTROL:
            faults = list(faults_of_options(program, without_option(page, "generate")))
            check(len(faults) == 2, f"missed: {faults}")


def test_bash_offers_the_options_of_the_help_and_no_other():
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "script")
        for program in PROGRAMS:
            script.write_text(generated(program, "bash"))
            faults = list(faults_of_words(program, script))
            check(not faults, faults)
            if CONTROL:
                script.write_text(without_option(generated(program, "bash"), "generate"))
                faults = list(faults_of_words(program, script))
                check(len(faults) == 2, f"missed: {faults}")


def test_nvcached_answers_what_memcached_does():
    if "nvcached" not in PROGRAMS:
        return
    page = generated("nvcached", "man")
    letters = {name[1] for name in options_in_page(page)[""] if len(name) == 2}
    check(MEMCACHED_LETTERS <= letters, f"not there: {MEMCACHED_LETTERS - letters}")
    titles = [line[4:].strip('"') for line in page.splitlines() if line.startswith(".SH")]
    check(titles == NVCACHED_SECTIONS, titles)


def test_nvcached_understands_its_examples():
    if "nvcached" not in PROGRAMS:
        return
    page = generated("nvcached", "man").partition('.SH "EXAMPLES"')[2].partition(".SH")[0]
    text = plain(page).replace("\\e\n", " ").replace("\\(aq", "'").replace("\\e", "\\")
    examples = re.findall(r"^nvcached.*", text, re.M)
    check(len(examples) >= 6, examples)
    for example in examples:
        answer = run(PROGRAMS["nvcached"], *example.split()[1:], "--generate=man")
        check(answer.returncode == 0, f"{example}: {answer.stderr}")


def cases(folder):
    """Command lines and what is offered; words behind a ! are not."""
    yield "nvcached --proto", ["--protocol="]
    yield "nvcached --protocol=", ["auto", "ascii", "binary"]
    yield "nvcached -B b", ["binary", "!ascii"]
    yield "nvcached -vB a", ["auto", "ascii", "!binary"]
    yield "nvcached --durability=e", ["each", "each_lru", "!cache"]
    yield "nvcached --medium ", ["dram", "file:", "emulated:"]
    yield f"nvcached --medium=file:{folder}/on", [f"{folder}/one", "!two"]
    yield f"nvcached -Y {folder}/on", [f"{folder}/one"]
    yield "nvcached -o ssl_", ["ssl_key=", "ssl_chain_cert=", "!idle_timeout="]
    yield "nvcached -p ", ["!one", "!--port="]
    yield "nvcache ", ["bench", "calibrate", "replay", "!ycsb"]
    yield "nvcache replay --f", ["--format", "!--files"]
    yield "nvcache replay --format ", ["csv", "rocksdb"]
    yield "nvcache calibrate ", ["dram", "file:", "emulated:"]
    yield f"nvcache report {folder}/on", [f"{folder}/one", "!two"]
    yield f"nvcache replay --json {folder}/on", [f"{folder}/one"]
    yield "nvbench ", ["ycsb", "simulate", "nvmcached"]
    yield "nvbench ycsb --engine ", ["rocksdb", "wiredtiger"]
    yield f"nvbench ycsb --db {folder}/", [f"{folder}/folder", f"!{folder}/one"]
    yield "nvbench writes-hurt --figures 4,", ["5", "8", "!10"]
    yield "nvbench hybrid-cache --q", ["--quick"]


def offers(answer, words):
    """Whether the words are offered. A shell may show what stands before or behind, or not."""
    def found(word):
        end = word.rstrip("/=").rpartition("/")[2]
        return any(each.rstrip("/=").endswith(end) for each in answer)
    return all(not found(word[1:]) if word.startswith("!") else found(word) for word in words)


def check_cases(shell, complete):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "one").touch()
        pathlib.Path(folder, "two").touch()
        pathlib.Path(folder, "folder").mkdir()
        for program in PROGRAMS:
            pathlib.Path(folder, program + ".script").write_text(generated(program, shell))
        for line, words in cases(folder):
            program = line.split()[0]
            if program not in PROGRAMS:
                continue
            answer = complete(f"{folder}/{program}.script", line, folder)
            check(offers(answer, words), f"{shell}: {line}: {answer}; wanted: {words}")


def test_bash_completes():
    check_cases("bash", shells.bash)


def test_fish_completes():
    if shells.missing("fish"):
        return "fish is not installed"

    check_cases("fish", shells.fish)
    return None


def test_zsh_completes():
    if shells.missing("zsh"):
        return "zsh is not installed"
    check_cases("zsh", shells.zsh)
    return None


def test_nvcache_bench_completes_what_nvbench_has():
    if not {"nvcache", "nvbench"} <= set(PROGRAMS):
        return "nvbench is not built"
    answer = run(PROGRAMS["nvcache"], "bench", "--generate=man")
    check(answer.stdout == generated("nvbench", "man"), "nvcache bench prints another page")
    with tempfile.TemporaryDirectory() as folder:
        alone = pathlib.Path(folder, "alone")
        alone.mkdir()
        shutil.copy(PROGRAMS["nvcache"], alone)
        both = str(pathlib.Path(PROGRAMS["nvcache"]).parent) + ":" + os.environ["PATH"]
        for shell in ("bash", "fish", "zsh"):
            if shells.missing(shell):
                continue
            complete = getattr(shells, shell)
            script = pathlib.Path(folder, shell)
            script.write_text(generated("nvcache", shell))
            for line, words in (("nvcache bench yc", ["ycsb"]),
                                ("nvcache bench ycsb --eng", ["--engine"]),
                                ("nvcache bench ycsb --engine ", ["rocksdb"]),
                                ("nvcache bench simulate --clie", ["--clients"])):
                answer = complete(script, line, folder, path=both)
                check(offers(answer, words), f"{shell}: {line}: {answer}; wanted: {words}")
            path = f"{alone}:{os.environ['PATH']}"
            if shutil.which("nvbench") is None:
                answer = complete(script, "nvcache bench yc", folder, path=path)
                check(offers(answer, ["!ycsb"]), f"{shell}: without nvbench: {answer}")
                check(shell == "zsh" or not answer, f"{shell}: without nvbench: {answer}")
    return None


def main():
    failures = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            left_out = test()
            print(f"ok   {name}" + (f": left out: {left_out}" if left_out else ""))
        except AssertionError as error:
            failures += 1
            print(f"FAIL {name}: {error}")
    sys.exit(1 if failures else 0)


main()
