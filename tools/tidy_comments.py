"""Comments, for tidy.py: none begins a sentence with "What", and the files and functions that they
name exist.

A comment that begins with "What" puts its subject last (STYLE.md, Words). A comment that names a
file or a function of ours goes out of date silently when that is renamed: files are looked for
among those of the tree, functions (`name()`) among what its code calls or defines.
"""
import re

CPP = (".h", ".cc", ".c", ".js", ".css")
WHAT = re.compile(r"(?:^|[.:;] )What [a-z]")
FILE = re.compile(r"(?<![\w./*<-])(?:\.\./)*\w[\w./-]*\.(?:cc|h|py|md|sh)\b(?![\w/])")
FUNCTION = re.compile(r"\b(\w+)\(\)")
DEFINED = re.compile(r"\w+(?=(?:<[^<>()]*>)?\()")
# Of other projects: RocksDB, WiredTiger, a JDK, Python packages.
FOREIGN_FILES = re.compile(
    r"rocksdb/\w+\.h|(trace_replay|cache|test_util)/\w+\.(cc|h)|build_version\.cc|"
    r"(.*/)?run\.py|wthooks\.py|jni\.h|setup\.py")
FOREIGN_FUNCTIONS = {"StartBlockCacheTrace", "posix_fallocate", "vfork"}
# Stands for any name in a usage: OUTPUT.cc, packaging/KIND.sh.
PLACEHOLDER = re.compile(r"(.*/)?[A-Z]+\.\w+")
STRINGS = r"""R"(?P<mark>[^ ()\\]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|"""
CPP_COMMENT = re.compile(
    STRINGS + r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|(?P<comment>//[^\n]*|/\*.*?\*/)", re.S)
# Of Python and shells.
COMMENT = re.compile(
    r'(?P<comment>"""(?:.*?)"""|(?<!\S)#[^\n]*)|' + STRINGS + r"'(?:\\.|[^'\\\n])*'", re.S)


def pattern_of(name):
    return CPP_COMMENT if name.endswith(CPP) else COMMENT


def comments_of(name, text):
    """Each line of a comment, as (line, text without marks)."""
    for found in pattern_of(name).finditer(text):
        if not found.group("comment"):
            continue
        first = text.count("\n", 0, found.start()) + 1
        for at, line in enumerate(found.group("comment").split("\n")):
            yield first + at, line.strip("/*#!<\" \t")


def code_of(name, text):
    return pattern_of(name).sub(
        lambda found: " " if found.group("comment") else found.group(0), text)


def check(texts, is_code):
    """`texts` of all files, of which those with is_code(name) are looked at."""
    paths = {"/".join(name.split("/")[at:]) for name in texts for at in range(name.count("/") + 1)}
    defined = {word for name, text in texts.items() if not name.endswith(".md")
               for word in DEFINED.findall(code_of(name, text))} | FOREIGN_FUNCTIONS
    for name, text in texts.items():
        if not is_code(name):
            continue
        for number, line in comments_of(name, text):
            where = f"{name}:{number}"
            if WHAT.search(line):
                yield f"{where}: 'What ...'; say the thing as the subject (STYLE, Words)"
            for file in FILE.findall(line):
                if not (file.lstrip("./") in paths or FOREIGN_FILES.fullmatch(file) or
                        PLACEHOLDER.fullmatch(file)):
                    yield f"{where}: there is no {file}"
            for function in FUNCTION.findall(line):
                if function not in defined:
                    yield f"{where}: there is no {function}()"


def self_test():
    tree = {
        "src/good.h": "// A room. good.h, a/b.py, rocksdb/cache.h and vfork(); see here(). What\n"
                      "// Whatever f() does. OUTPUT.cc\nint f();  // of here()\n"
                      'auto s = "What x";\n',
        "src/a/b.py": '"""As here()."""\ndef here():\n    pass  # f()\n',
        "README.md": "What it is: gone()\n",
    }
    code = lambda name: not name.endswith(".md")
    found = list(check(tree, code))
    assert not found, found
    tree["src/bad.cc"] = ('// What it is.\nint g = 0;  // See: What it holds. gone()\n'
                          '/* Of gone.h\n * What it was */\n')
    tree["src/a/bad.py"] = '"""What it is: gone() of b/b.py."""\n# What\nf("# What it is")\n'
    found = list(check(tree, code))
    assert sum("'What" in each for each in found) == 4, found
    assert sum("gone()" in each for each in found) == 2, found
    assert sorted(each.split("no ")[1] for each in found if "gone.h" in each or "b/b" in each) == [
        "b/b.py", "gone.h"], found
    assert len(found) == 8, found
    return "four comments that begin with What, two files and two functions that are gone"
