"""Private fields and constants that are declared and never used, for tidy.py.

A field (`name_`) is used in the folder of its class, one of a public header anywhere. A constant
(`kName`) of a source is used in that source; a constant of a header, or an enumerator, anywhere.
Comments and strings do not count. Names are compared, not what they mean: a name that another
class uses, too, is taken for used.
"""
import collections
import pathlib
import re

import cpp_functions

CPP = (".h", ".cc", ".c")
FIELD = re.compile(r"(?<=[\w>*&\]] )([a-z]\w*_)\s*(?=[;={\[]|NVCACHE_\w+\()")
NO_TYPE = re.compile(r"\b(?:return|delete|throw|case|new|else|not)\s$")
CONSTANT = re.compile(r"(?<!::)(?<!\.)\b(k[A-Z]\w*)\b")
IS_CONST = re.compile(r"\bconst(?:expr)?\b[^;(){}=]*$")
WORD = re.compile(r"\b(?:k[A-Z]\w*|[a-z]\w*_)\b")


def check(texts):
    codes = {name: cpp_functions.blank(text, cpp_functions.LITERALS) for name, text in texts.items()
             if name.endswith(CPP)}
    everywhere, in_folder = collections.Counter(), collections.Counter()
    for name, code in codes.items():
        folder = pathlib.PurePosixPath(name).parent
        words = collections.Counter(WORD.findall(code))
        everywhere.update(words)
        for word, times in words.items():
            in_folder[folder, word] += times
    shared = set(word for name, code in codes.items() if name.endswith(".h")
                 for word in WORD.findall(code))
    for name, code in codes.items():
        folder = pathlib.PurePosixPath(name).parent
        for found in FIELD.finditer(code):
            field = found.group(1)
            times = everywhere[field] if name.startswith("include/") else in_folder[folder, field]
            if times == 1 and not NO_TYPE.search(code[:found.start()]):
                line = code.count("\n", 0, found.start()) + 1
                yield f"{name}:{line}: the field {field} is never used"
        words = collections.Counter(WORD.findall(code))
        for found in CONSTANT.finditer(code):
            constant = found.group(1)
            is_local = constant not in shared and IS_CONST.search(code, 0, found.start())
            if everywhere[constant] == 1 or words[constant] == 1 and is_local:
                line = code.count("\n", 0, found.start()) + 1
                yield f"{name}:{line}: the constant {constant} is never used"


def self_test():
    tree = {
        "src/a/a.h": "// A, with fields_ and kLimit.\nclass A {\n  enum class E { kOne, kTwo };\n"
                     "  int used_ = 0;\n  int idle_ NVCACHE_GUARDED_BY(mutex_);\n"
                     "  Mutex mutex_;\n};\n",
        "src/a/a.cc": "constexpr int kHere = 1;\nint A::f() { return used_ + int(E::kOne); }\n"
                      "int g() { return a::kOfOthers + kHere; }\n",
        "src/b/b.cc": "constexpr int kHere = 1;  // kHere\nint idle_of(A a) { return a.idle_; }\n",
    }
    found = list(check(tree))
    assert found == ["src/a/a.h:5: the field idle_ is never used",
                     "src/a/a.h:3: the constant kTwo is never used",
                     "src/b/b.cc:1: the constant kHere is never used"], found
    return "an unused field and two constants"
