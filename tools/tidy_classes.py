"""The lines of a class over all its files, for tidy.py: its declaration, and the bodies of its
members wherever they are. A class that was cut into files is as large as before.

Of one name there may be several classes: to that of a header belong the bodies in the sources of
its folder that include it; to that of a source those of the source.
"""
import bisect
import pathlib
import re

import cpp_functions

LINES = 600
# A larger class says why in the comment above it, by these words.
LARGER_BECAUSE = "tidy: larger because"
CPP = (".h", ".cc", ".c")
MEMBER = re.compile(r"((?:\w+(?:<[^<>()]*>)?::)+)~?(?:\w+|operator[^\w(]*)\s*\(")


def classes_of(code):
    """Each class or struct as (line, name, lines), those within another one, too."""
    ends = [found.start() for found in re.finditer("\n", code)]
    for found in cpp_functions.CLASS.finditer(code):
        last = cpp_functions.end_of_braces(code, found.end() - 1)
        first = bisect.bisect_left(ends, found.start()) + 1
        yield first, found.group(1), bisect.bisect_left(ends, last) + 1 - first + 1


def members_of(text):
    """Each function that names its class as (names before it, lines)."""
    for first, last, signature in cpp_functions.functions_of(text):
        if found := MEMBER.search(signature):
            names = re.sub(r"<[^<>()]*>", "", found.group(1)).split("::")
            yield names[:-1], last - first + 1


def comment_above(lines, first):
    at = first - 1
    while at > 0 and lines[at - 1].lstrip().startswith("//"):
        at -= 1
    return "\n".join(lines[at:first - 1])


def check(texts):
    sources = {name: list(members_of(text)) for name, text in texts.items() if name.endswith(".cc")}
    folders = {}
    for name in sources:
        folders.setdefault(pathlib.PurePosixPath(name).parent, []).append(name)
    for name, text in texts.items():
        if not name.endswith(CPP):
            continue
        path = pathlib.PurePosixPath(name)
        near = folders.get(path.parent, []) if path.suffix == ".h" else [name]
        users = [each for each in near if each == name or f"/{path.name}\"" in texts[each] or
                 f"\"{path.name}\"" in texts[each]]
        for first, found, lines in classes_of(cpp_functions.blank(text)):
            own = found.split("::")[-1]
            lines += sum(size for each in users for names, size in sources.get(each, [])
                         if own in names)
            if lines <= LINES:
                continue
            if LARGER_BECAUSE not in comment_above(text.splitlines(), first):
                yield (f"{name}:{first}: {found} has {lines} lines in all its files; allowed: "
                       f"{LINES}, or '// {LARGER_BECAUSE} ...' in the comment above it")


def self_test():
    body = "  f();\n" * 58
    header = "// A.\nclass A {\n" + "  int a();\n" * 60 + "};\n"
    bodies = "".join(f"int A::a{i}() {{\n{body}}}\n" for i in range(9))
    small = "".join(f"int A::a{i}() {{\n{body}}}\n" for i in range(8))
    tree = {"src/a/a.h": header, "src/a/a.cc": '#include "a/a.h"\n' + small,
            "src/b/a.cc": bodies, "src/a/c.cc": "class A {\n};\n" + small}
    assert not list(check(tree)), list(check(tree))
    tree["src/a/a_more.cc"] = '#include "a/a.h"\nint A::B::b() {\n' + body + "}\n"
    found = list(check(tree))
    assert len(found) == 1 and "src/a/a.h:2: A has 602 lines" in found[0], found
    tree["src/a/a.h"] = header.replace("// A.", f"// A.\n// {LARGER_BECAUSE} x.")
    assert not list(check(tree))
    return "a large class"
