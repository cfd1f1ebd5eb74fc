"""Finds the functions of a C or C++ source, where each begins and ends, and its interfaces.

Counts braces, and does not parse: good enough for sources that clang-format laid out. A brace that
opens after a parameter list begins a function; after namespace, class, struct, union, enum or
extern it opens a scope with functions in it; any other one holds data. Lambdas and blocks within a
function belong to it.
"""
import functools
import re

# Comments and literals, raw ones first.
LITERAL = (r'R"(?P<mark>[^ ()\\]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|'
           r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'")
LITERALS = re.compile(LITERAL, re.S)
# And, of conditional code, all but the first branch.
HIDDEN = re.compile(
    LITERAL + r"|^[ \t]*#[ \t]*(?:else|elif)\b.*?^[ \t]*#[ \t]*endif[^\n]*|"
    r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
SCOPE = re.compile(r"(inline )?(namespace|class|struct|union|enum|extern|typedef)\b")
TEMPLATE = re.compile(r"template\s*<[^<>]*(?:<[^<>]*>[^<>]*)*>\s*(requires [^\n]*)?")


@functools.cache
def blank(text, hidden=HIDDEN):
    """The same text, with blanks for comments, literals and directives; for comments and literals
    alone with LITERALS."""
    return hidden.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)


def end_of_braces(code, at):
    """The place of the brace that closes the one at `at`; the end of the code if none does."""
    depth = 0
    for found in re.finditer(r"[{}]", code[at:]):
        depth += 1 if found.group(0) == "{" else -1
        if depth == 0:
            return at + found.start()
    return len(code) - 1


def functions_of(text):
    """Each function as (first line, last line, signature)."""
    code = blank(text)
    head_at, at = 0, 0
    while found := re.compile(r"[;{}]").search(code, at):
        at = found.end()
        if found.group(0) != "{":
            head_at = at
            continue
        whole = code[head_at:found.start()]
        head = TEMPLATE.sub("", whole).strip()
        # Access specifiers and attributes stand before what they are about.
        head = re.sub(r"^((public|protected|private):|\[\[[^\]]*\]\])\s*", "", head)
        if SCOPE.match(head):
            head_at = at
            continue
        end = end_of_braces(code, found.start())
        at = end + 1
        after = code[at:].lstrip()[:1]
        if "(" in head and not re.search(r"=\s*[\w:<>, ]*(\([^()]*\))?$", head):
            if after in (",", "{"):  # braces of a constructor's initializers: its body is to come
                continue
            first = head_at + len(whole) - len(whole.lstrip())
            yield (code.count("\n", 0, first) + 1, code.count("\n", 0, end) + 1,
                   " ".join(head.split()))
        head_at = at


CLASS = re.compile(r"\b(?:class|struct)\s+(?:alignas\([^()]*\)\s*)?(\w[\w:]*)[^;{}()]*\{")
PURE = re.compile(
    r"(?=.*\b(?:virtual|override)\b).*\)\s*(?:(?:const|noexcept|override|final|&&?)\s*)*=\s*0\s*$",
    re.S)


def without_braces(code):
    """The code at depth 0."""
    parts, at = [], 0
    while (opens := code.find("{", at)) >= 0:
        parts.append(code[at:opens])
        at = end_of_braces(code, opens) + 1
    return "".join(parts) + code[at:]


def interfaces_of(text):
    """Each class with pure virtual functions as (line, name, how many it declares). Those that it
    inherits are not counted, nor is a destructor."""
    code = TEMPLATE.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), blank(text))
    for found in CLASS.finditer(code):
        body = code[found.end():end_of_braces(code, found.end() - 1)]
        pure = sum(1 for statement in without_braces(body).split(";")
                   if PURE.match(statement) and "~" not in statement.split("(")[0])
        if pure:
            yield code.count("\n", 0, found.start()) + 1, found.group(1), pure
