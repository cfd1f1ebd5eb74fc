"""Asks shells what they complete: bash and fish by their own functions, zsh on a terminal.

Each takes the command line up to the cursor and returns the words that are offered.
"""
import os
import pty
import re
import shutil
import subprocess

BASH = r"""
eval "$(cat "$SCRIPT")"
mapfile -t COMP_WORDS <<< "$WORDS"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE=$LINE COMP_POINT=${#LINE}
"_$PROGRAM"
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
"""
END = "end-of-the-answer"


def missing(shell):
    return shutil.which(shell) is None


def words_as_bash_has_them(line):
    """COMP_WORDS: bash splits at blanks, and has each = and : as a word of its own."""
    words = [part for word in line.split() for part in re.findall(r"[=:]|[^=:]+", word)]
    return words + [""] if line.endswith(" ") else words


def run(command, folder, **environment):
    answer = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, text=True,
                            capture_output=True, timeout=60, check=False)
    if answer.returncode != 0 or answer.stderr:
        raise AssertionError(f"{command[0]}: {answer.returncode}: {answer.stderr}")
    return answer.stdout.splitlines()


def bash(script, line, folder, path=None):
    """The words that bash offers for the last one."""
    program = line.split()[0]
    words = "\n".join(words_as_bash_has_them(line))
    return run(["bash", "--norc", "-c", BASH], folder, SCRIPT=str(script), WORDS=words, LINE=line,
               PROGRAM=program, PATH=path or os.environ["PATH"])


def fish(script, line, folder, path=None):
    """The words that fish offers for the last one, without their descriptions."""
    quoted = line.replace("\\", "\\\\").replace("'", "\\'")
    command = f"source {script}; complete -C '{quoted}'"
    answers = run(["fish", "--no-config", "-c", command], folder,
                  PATH=path or os.environ["PATH"], HOME=str(folder))
    return [answer.split("\t")[0] for answer in answers]


def zsh(script, line, folder, path=None):
    """The words that zsh lists; those of the line itself are among them."""
    environment = {**os.environ, "PATH": path or os.environ["PATH"], "TERM": "dumb",
                   "HOME": str(folder), "ZDOTDIR": str(folder)}
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], environment)
    try:
        os.write(terminal, (
            "unset zle_bracketed_paste; unsetopt prompt_cr; autoload -Uz compinit; "
            f"compinit -D -u; source {script}; setopt no_list_beep; LISTMAX=1000; "
            "stty columns 200 rows 1000; bindkey '^T' list-choices; "
            "PS1='re''ady> '\n").encode())
        read_until(terminal, "ready> ")  # from then on zsh reads each key itself
        os.write(terminal, f"{line}\x14\x15print -r -- {END[:3]}''{END[3:]}\n".encode())
        return read_until(terminal, "\n" + END).split()
    finally:
        os.close(terminal)
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def read_until(terminal, mark):
    text = ""
    while mark not in text.replace("\r", ""):
        text += os.read(terminal, 65536).decode(errors="replace")
    return text.replace("\r", "")
