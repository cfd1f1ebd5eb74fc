#!/usr/bin/env python3
"""Holds what STYLE.md says by machine.

usage: tidy.py [ROOT]          check the tree at ROOT (default: .)
       tidy.py --self-test     prove that each kind of breach is found

Checks: columns, lengths of files, scripts, functions and classes (tidy_classes.py), methods of
interfaces, a comment at the top of each header, sentences and names in comments
(tidy_comments.py), unused fields and constants (tidy_names.py), files that nothing builds or names,
links in Markdown, words that the glossary replaces or that were mended, whether the programs print
the messages that docs/troubleshooting.md explains, and whether all descriptors come from
src/base/descriptors.cc. Prints each breach as file:line and exits with 1 if there is any.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import cpp_functions
import tidy_classes
import tidy_comments
import tidy_names

COLUMNS = 100
LINES = 400
SCRIPT_LINES = 150  # of a shell
FUNCTION_LINES = 70
METHODS = 8
README_LINES = 120
CPP = (".h", ".cc", ".c")
CODE = {".h", ".cc", ".c", ".py", ".sh", ".js", ".css"}
TOPS = ("src", "apps", "experiments", "include", "tests", "bench", "examples", "tools", "script")
# A longer file says why in its first lines, a longer function in the line above it, by this word.
LONG_BECAUSE = "tidy: longer because"
# So does an interface with more methods.
MORE_BECAUSE = "tidy: more methods because"
# A file with wide lines says why, too.
WIDE_BECAUSE = "tidy: wider" + " because"
# Words that the glossary replaces, and the files that may use them all the same.
WORDS = [
    (re.compile(r"\bmodelled:"), "emulated:", re.compile(
        r"src/(medium|kv_store)/medi.*|src/medium/.*|tests/.*_test\.(cc|py)|tools/tidy\.py|"
        r"experiments/.*")),
    (re.compile(r"\bhybrid (cache|tier)s?\b"), "tiered cache",
     re.compile(r".*\.md|tools/tidy\.py")),
]
# Words and sentences that were mended: in pages and headers, without code.
MENDED = [
    (re.compile(r"\b(nobody|whoever|by whom ever)\b", re.I), "who it is, or a passive"),
    (re.compile(r"\bmeanwhile\b", re.I), "during what, or after what"),
    (re.compile(r"\bso many\b", re.I), "how many"),
]
# In comments tidy_comments.py looks for it.
MENDED_IN_PAGES = MENDED + [
    (re.compile(r"(^|[.:;] |^ *[-*] )What [a-z]"), "the thing as the subject (STYLE, Words)"),
]
MENDED_IN = re.compile(r"(?!CHANGELOG|STYLE).*\.md|.*\.h")
# A page of messages, and what prints them.
MESSAGES = "docs/troubleshooting.md"
PRINTERS = re.compile(r"(src|apps|cmake)/.*\.(cc|h|cmake)|apps/.*CMakeLists\.txt")
# Calls that make a descriptor, and the one file that may have them. Names that are also of
# functions of ours are known by their arguments, or by a `::` before them.
MAKERS = re.compile(
    r"(?<![\w.>:])(?:(?:std)?::)?(?:"
    r"(?:open64|openat2?|creat|dup[23]?|socketpair|accept4|pipe2|eventfd|epoll_create1?|signalfd|"
    r"timerfd_create|inotify_init1?|memfd_create|shm_open|opendir|fdopendir|mko?stemps?|fopen|"
    r"fdopen|freopen|popen|tmpfile|pidfd_open|pidfd_getfd)\s*\("
    r"|open\s*\([^;{}]*\bO_[A-Z]+|socket\s*\([^;{}]*\b(?:AF|SOCK)_|fcntl\s*\([^;{}]*\bF_DUPFD)"
    r"|(?<![\w>])::(?:open|socket|accept|pipe)\s*\(")
# So do these of the standard library. Our programs fill their standard streams at their start.
STREAMS = re.compile(r"std::[io]?fstream\b|directory_iterator\b|hardware_concurrency\b")
MAKERS_ALLOWED = "src/base/descriptors.cc"
FILLS_STREAMS = "fill_standard_streams()"
# Built or read by name patterns, by a test runner or by people: not named by another file.
NAMED_BY_PATTERN = re.compile(
    r".*\.(md|profile)$|LICENSE|CMakeLists\.txt|CMakePresets\.json|\..*|.*/\..*|"
    r"adapters/.*\.java|tests/fuzz/corpus/.*|script/.*|docs/.*\.(svg|png)|"
    r"packaging/debian/.*|packaging/conan/(test_package/)?conanfile\.py|"
    r"packaging/Containerfile|packaging/\w+\.sh")


def files_of(root):
    """The files git tracks; outside of a checkout, all of them."""
    done = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True,
                          check=False)
    names = done.stdout.split("\n") if done.returncode == 0 and done.stdout else [
        path.relative_to(root).as_posix() for path in root.rglob("*")]
    return sorted(name for name in names if name and (root / name).is_file())


def is_code(name):
    path = pathlib.PurePosixPath(name)
    return path.parts[0] in TOPS and (path.suffix in CODE or path.parts[0] == "script")


def check_columns(name, lines):
    """Excepted, because nobody can fold them: specifications (with ://), commands in help texts
    and recorded output in sources; tables, code and single links in Markdown. Style sheets and
    scripts of pages are checked for their length only."""
    fenced = False
    if name.endswith((".js", ".css")) or any(WIDE_BECAUSE in line for line in lines):
        return
    for number, line in enumerate(lines, 1):
        if not name.endswith(".md") and ("://" in line or line.startswith("  nvcache ")):
            continue
        if name.endswith(".md"):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            if fenced or line.startswith(("|", "    ")) or " " not in line.strip():
                continue
        if len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns; allowed: {COLUMNS}"


def check_length(name, lines):
    if len(lines) > LINES and not any(LONG_BECAUSE in line for line in lines[:15]):
        yield f"{name}: {len(lines)} lines; allowed: {LINES}, or '{LONG_BECAUSE} ...' at the top"


def check_script(name, lines):
    is_shell = name.endswith(".sh") or re.match(r"#!.*\b(ba)?sh$", lines[0] if lines else "")
    if is_shell and len(lines) > SCRIPT_LINES:
        yield f"{name}: {len(lines)} lines of a shell; allowed: {SCRIPT_LINES}"


def check_functions(name, text, lines):
    """Excepted: the bodies of tests, which are told from top to bottom."""
    if not name.endswith(CPP):
        return
    for first, last, signature in cpp_functions.functions_of(text):
        if last - first + 1 <= FUNCTION_LINES or signature.startswith("TEST"):
            continue
        if LONG_BECAUSE not in lines[first - 2]:
            yield (f"{name}:{first}: a function of {last - first + 1} lines; allowed: "
                   f"{FUNCTION_LINES}, or '// {LONG_BECAUSE} ...' above it")


def check_interfaces(name, text, lines):
    """Counted: what an implementation must write. It may leave out a virtual function that has a
    body."""
    if not name.endswith(CPP):
        return
    for first, interface, methods in cpp_functions.interfaces_of(text):
        if methods > METHODS and MORE_BECAUSE not in lines[first - 2]:
            yield (f"{name}:{first}: {interface} has {methods} pure virtual functions; allowed: "
                   f"{METHODS}, or '// {MORE_BECAUSE} ...' above it")


def check_readme(name, lines):
    if name == "README.md" and len(lines) > README_LINES:
        yield f"{name}: {len(lines)} lines; allowed: {README_LINES}"


def check_header(name, lines):
    if name.endswith(".h") and not (lines and lines[0].startswith(("//", "/*"))):
        yield f"{name}:1: a header begins with a comment that says what it is"


def check_words(name, lines):
    for number, line in enumerate(lines, 1):
        for word, better, allowed in WORDS:
            if word.search(line) and not allowed.fullmatch(name):
                yield f"{name}:{number}: '{word.search(line).group(0)}'; the glossary says {better}"


def check_mended(name, lines):
    if not MENDED_IN.fullmatch(name):
        return
    fenced, header = False, name.endswith(".h")
    for number, line in enumerate(lines, 1):
        fenced ^= line.lstrip().startswith("```")
        if fenced or not header and line.startswith("    "):
            continue
        text = re.sub(r"`[^`]*`", "", line)
        for pattern, better in MENDED if header else MENDED_IN_PAGES:
            if found := pattern.search(text):
                yield f"{name}:{number}: '{found.group(0).strip()}'; say {better}"


def anchor_of(heading):
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", ""))
    return kept.replace(" ", "-")


def check_links(root, name, text):
    if not name.endswith(".md"):
        return
    without_code = re.sub(r"```.*?```", "", text, flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (root / name).parent / path if path else root / name
        if not to.exists():
            yield f"{name}: the link {target} leads nowhere"
        elif anchor and to.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", to.read_text(), flags=re.M)
            if anchor not in map(anchor_of, headings):
                yield f"{name}: the link {target} names no heading of {path or name}"


def check_messages(texts):
    """In tables whose first column is 'message', each `message` is one that a program prints. Dots
    and numbers in it stand for anything; "messages" in quotes are of other programs."""
    printed = "\n".join(text for name, text in texts.items() if PRINTERS.fullmatch(name))
    printed = re.sub(r'"\s*\n\s*"', "", printed).replace('\\"', '"')
    column = ""
    for number, line in enumerate(texts.get(MESSAGES, "").splitlines(), 1):
        if not line.startswith("|"):
            column = ""
            continue
        cell = line.split("|")[1].strip()
        column = column or cell
        if column != "message":
            continue
        for message in (code for code in re.findall(r"`([^`]*)`", cell) if " " in code):
            for part in re.split(r"\.\.\.|\b\d+\b", message):
                if part.strip() not in printed:
                    yield f"{MESSAGES}:{number}: no program prints '{part.strip()}'"


def check_descriptors(name, text):
    if not name.startswith(("src/", "apps/")) or not name.endswith(CPP) or name == MAKERS_ALLOWED:
        return
    code = re.sub(r"//[^\n]*", "", text)
    found = list(MAKERS.finditer(code))
    if name.startswith("src/"):
        found += STREAMS.finditer(code)
    for each in found:
        number = code.count("\n", 0, each.start()) + 1
        yield (f"{name}:{number}: makes a descriptor, which may be 0, 1 or 2; call what "
               "base/descriptors.h, base/files.h or base/processors.h has")


def check_programs(name, text):
    if name.startswith(("apps/", "experiments/")) and name.endswith(CPP):
        if re.search(r"^int main\(", text, re.M) and FILLS_STREAMS not in text:
            yield f"{name}: a program calls {FILLS_STREAMS} first (base/descriptors.h)"


def check_dead(names, texts):
    """A source is built by a pattern of its folder's CMake file, or by name; others are named."""
    everything = "\n".join(text for name, text in texts.items())
    globbed = [name for name in names if name.endswith("CMakeLists.txt") or name.endswith(".cmake")]
    cmake = "\n".join(texts[name] for name in globbed)
    for name in names:
        if NAMED_BY_PATTERN.fullmatch(name):
            continue
        path = pathlib.PurePosixPath(name)
        patterns = [f"{path.parent.name}/*{path.suffix}", f"*{path.suffix}", f"*_test{path.suffix}"]
        if path.suffix in (".cc", ".c"):
            if path.name in cmake or path.stem in cmake or any(p in cmake for p in patterns):
                continue
        elif path.suffix == ".sh" and path.stem.removesuffix("_test") in cmake:
            continue  # by the name of a tool and _test
        elif everything.count(path.name) - texts.get(name, "").count(path.name) > 0:
            continue
        elif path.suffix == ".py" and path.stem in everything.replace(texts.get(name, ""), ""):
            continue
        yield f"{name}: nothing builds, includes or names it"


def check(root):
    names = files_of(root)
    texts = {}
    for name in names:
        try:
            texts[name] = (root / name).read_text()
        except UnicodeDecodeError:
            continue
    breaches = []
    for name, text in texts.items():
        lines = text.splitlines()
        if is_code(name):
            breaches += check_columns(name, lines)
            breaches += check_length(name, lines)
            breaches += check_script(name, lines)
            breaches += check_functions(name, text, lines)
            breaches += check_interfaces(name, text, lines)
            breaches += check_header(name, lines)
            breaches += check_words(name, lines)
            breaches += check_mended(name, lines)
            breaches += check_descriptors(name, text)
            breaches += check_programs(name, text)
        elif name.endswith(".md"):
            breaches += check_columns(name, lines)
            breaches += check_links(root, name, text)
            breaches += check_readme(name, lines)
            breaches += check_mended(name, lines)
    breaches += check_messages(texts)
    breaches += tidy_classes.check(texts)
    breaches += tidy_comments.check(texts, is_code)
    breaches += tidy_names.check(texts)
    breaches += check_dead([name for name in names if name in texts], texts)
    return breaches


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)

        def write(name, text):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)

        write("CMakeLists.txt", "file(GLOB all src/*.cc)\n")
        write("src/good.h", "// A good header.\n")
        write("src/good.cc", '#include "good.h"\n')
        write("README.md", "[good](src/good.h) [here](#title)\n\n# Title\n\n| " + "x " * 80 + "|\n")
        assert check(root) == [], check(root)
        write("src/wide.cc", "// " + "x" * 100 + "\n")
        write("src/long.cc", "\n" * 401)
        write("src/bare.h", "#pragma once\n")
        write("src/words.cc", '// a hybrid cache\n#include "bare.h"\n')
        body = " {\n" + "  f(\"}\");  // {\n" * 69 + "}\n"
        write("src/body.cc", f"namespace a {{\nvoid b() const{body}S::S() : c{{1}}, d(2){body}}}\n"
                             f"TEST(A, B){body}// tidy: longer because x\nint f(){body}"
                             f"const int kTable[] = {body[1:-1]};\n")
        pure = "  virtual void f(A a = {}) const = 0;\n" * 8
        other = "  virtual ~A() = 0;\n  virtual int g() { return 0; }\n  int n = 0;\n"
        nested = "  struct B {\n    virtual void h() = 0;\n  };\n"
        ninth = "  template <class T> void k();\n  void f() override = 0;\n"
        write("src/faces.cc", f"class A {{\n{pure}{other}{nested}}};\n"
                              f"class C : A<B> {{\n{other}{pure}{ninth}}};\n"
                              f"// tidy: more methods because x\nclass D {{\n{pure}{ninth}}};\n")
        write("src/large.h", "// A.\nclass A {\n" + "  int a;\n" * 599 + "};\n")
        write("src/says.h", '// What it says.\n#include "large.h"\n')
        write("script/long", "#!/usr/bin/env bash\n" * 151)
        write("tools/fine.sh", "true\n" * 150)
        write("src/dead.h", "// Nobody includes it.\n")
        write("docs/page.md", "[gone](gone.md) [wrong](../README.md#nothing)\n")
        write("README.md", "\n" * 121)
        write("docs/words.md", "What it costs, nobody knows.\n\n    -u nobody\n\n`nobody`\n")
        write("src/says.cc", 'say("file {}: cannot be "\n    "read: {}");\n')
        write(MESSAGES, "| message |\n|---|\n| `file ...: cannot be read`, \"of others\" |\n"
                        "| `it was never said` |\n\n| symptom |\n|---|\n| `any other` |\n")
        write("src/opens.cc", 'int f() { return ::open("x", O_RDONLY); }  // ::open("x")\n'
                              'int g() { return open(\n    "x", O_RDWR); }\n'
                              'int A::open(int flags);\n'
                              'std::ifstream stream;\nint h = fcntl(1, F_GETFD) + dup(1);\n'
                              'int n = std::thread::hardware_concurrency();\n')
        write("apps/main.cc", "int main() {\n  std::ofstream file;\n}\n")
        write("CMakeLists.txt", "file(GLOB all src/*.cc apps/*.cc)\n# fine.sh says.h\n")
        found = check(root)
        assert len(found) == 26, found
        assert sum("src/opens.cc" in each for each in found) == 5, found
        for breach in ("src/faces.cc:17: C has 9 pure virtual functions",
                       "src/large.h:2: A has 601 lines in all its files",
                       "src/says.h:1: 'What ...'", "script/long: 151 lines of a shell",
                       "the constant kTable is never used"):
            assert breach in "\n".join(found), found
    print("a wide line, two long files, two long functions, a long script, a wide interface, a "
          "bare header, a word, a dead file, two links, a long README, a message that nothing "
          "prints, three mended words, four descriptors and a program that does not fill its "
          "streams were found;")
    print(*(each.self_test() for each in (tidy_classes, tidy_comments, tidy_names)), sep="; ")


def main():
    if "--self-test" in sys.argv[1:]:
        self_test()
        return 0
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    breaches = check(root)
    print("\n".join(breaches) if breaches else "the tree is tidy")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
