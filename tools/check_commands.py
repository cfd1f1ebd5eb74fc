#!/usr/bin/env python3
"""Checks that the programs understand every command that README and docs show.

usage: check_commands.py ROOT BIN      ROOT: the checkout; BIN: the folder of built programs
       check_commands.py --self-test   prove that a wrong command is found

Reads the code in README.md, CONTRIBUTING.md, docs, docs/guide and docs/results. Of each command
line of nvcache, nvbench, nvcached and script/* it looks up the subcommand and every option in the
help of that program. Runs nothing but --help.

Exit code: 0 if all are understood; 1 if not; 77 (skipped) if no program is built.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/guide/*.md", "docs/results/*.md")
PROGRAMS = ("nvcache", "nvbench", "nvcached")
COMMAND = re.compile(r"(?:NVCACHE_\S+ )*((?:nvcache|nvbench|nvcached|script/\w+)(?: .*)?)$")
SKIPPED = 77


def code_lines(text):
    """The lines of a page's code, with their numbers; continued lines are joined."""
    fenced, joined, first = False, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        if not fenced and not line.startswith("    "):
            continue
        if not joined:
            first = number
        joined += line.strip()
        if joined.endswith("\\"):
            joined = joined[:-1]
            continue
        yield first, joined
        joined = ""


def commands_in(text):
    """Each command as (line, words); placeholders such as CACHE stay words."""
    for number, line in code_lines(text):
        found = COMMAND.match(line)
        if not found:
            continue
        try:
            words = shlex.split(found.group(1), comments=True)
        except ValueError:
            continue  # prose in a code block
        rest = words[1:]
        # Output of a program begins with its name, too: a command goes on with a word of letters.
        if not rest or re.match(r"^(-|[a-z][a-z-]*$)", rest[0]):
            yield number, words


class Helps:
    """The help text of a program and its subcommand; None if there is no such command."""

    def __init__(self, root, folder):
        self.root, self.folder, self.known = root, folder, {}

    def built(self, program):
        return program.startswith("script/") or (self.folder / program).exists()

    def of(self, program, subcommands):
        key = (program, *subcommands)
        if key not in self.known:
            place = self.root if program.startswith("script/") else self.folder
            done = subprocess.run([place / program, *subcommands, "--help"], capture_output=True,
                                  text=True, timeout=60, check=False)
            text = done.stdout if done.returncode == 0 else None
            if text is not None and subcommands and text == self.of(program, subcommands[:-1]):
                text = None  # the help of the program itself: no such subcommand
            self.known[key] = text
        return self.known[key]


def complaint_of(words, helps):
    """The mistake in a command, or None."""
    program, rest = words[0], words[1:]
    subcommands = []
    if program in ("nvcache", "nvbench"):
        while rest and re.match(r"^[a-z][a-z-]*$", rest[0]) and len(subcommands) < 2:
            subcommands.append(rest.pop(0))
    text = helps.of(program, subcommands)
    if text is None:
        return f"{' '.join([program, *subcommands])} is no command"
    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", text))
    for word in rest:
        option = re.match(r"--?[A-Za-z][\w-]*", word)
        if option and option.group(0) not in known:
            return f"{program} has no option {option.group(0)}"
        if program.startswith("script/") and not option and not re.search(
                rf"\b{re.escape(word)}\b", text):
            return f"{program} does not know '{word}'"
    return None


def check(root, helps):
    breaches, checked, left_out = [], 0, set()
    for page in sorted(path for pattern in PAGES for path in root.glob(pattern)):
        for number, words in commands_in(page.read_text()):
            program = "nvbench" if words[:2] == ["nvcache", "bench"] else words[0]
            if not helps.built(program):
                left_out.add(program)
                continue
            checked += 1
            complaint = complaint_of(words, helps)
            if complaint:
                breaches.append(f"{page.relative_to(root)}:{number}: {complaint}")
    return breaches, checked, left_out


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "script").mkdir()
        for name in ("script/demo", "nvcached"):
            (root / name).write_text("#!/bin/sh\necho 'usage: [--quick] [-m SIZE]'\n")
            (root / name).chmod(0o755)
        (root / "README.md").write_text(
            "# T\n\n    script/demo --quick   # good\n    nvcached -m 64\n\n"
            "```\nscript/demo --slow\n"
            "nvcached -m 64 \\\n  --no-such\n```\n    script/none\n")
        (root / "script/none").write_text("#!/bin/sh\nexit 2\n")
        (root / "script/none").chmod(0o755)
        breaches, checked, _ = check(root, Helps(root, root))
        assert checked == 5 and len(breaches) == 3, (checked, breaches)
    print("two unknown options and an unknown command were found")


def main():
    if "--self-test" in sys.argv[1:]:
        self_test()
        return 0
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    helps = Helps(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
    if not any(helps.built(program) for program in PROGRAMS):
        print(f"skipped: no program is built in {sys.argv[2]}")
        return SKIPPED
    breaches, checked, left_out = check(helps.root, helps)
    for program in sorted(left_out):
        print(f"left out: the commands of {program}, which is not built")
    print("\n".join(breaches) if breaches else f"{checked} commands are understood")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
