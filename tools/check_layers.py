#!/usr/bin/env python3
"""Checks that every file includes only from its own room and from rooms below it.

usage: check_layers.py [ROOT]          check the tree at ROOT (default: .)
       check_layers.py --self-test     prove that an upward include is found

Prints each breach as file:line and exits with 1 if there is any.
"""
import pathlib
import re
import sys
import tempfile

# Bottom to top. Rooms on one floor do not include each other.
FLOORS = [
    ["src/base"],
    ["src/spec"],
    ["src/medium"],
    ["src/policy"],
    ["src/block_cache/index", "src/block_cache/space"],
    ["src/block_cache/region"],
    ["src/block_cache", "src/kv_store"],
    ["src/file_cache", "src/tiered_cache"],
    ["src/adapters/rocksdb", "src/adapters/wiredtiger"],
    ["apps/command", "apps/trace"],
    ["experiments/workload", "experiments/report"],
    ["apps/nvcache", "apps/nvcached"],
    ["experiments/harness"],
    ["experiments/engines"],
    ["experiments/ycsb"],
    ["experiments/writes_hurt", "experiments/hybrid_cache", "experiments/nvmcached"],
    ["experiments"],
    ["bench", "examples"],
    ["tests"],
]
LEVEL = {room: level for level, floor in enumerate(FLOORS) for room in floor}
# Rooms of one floor that one other room does not include: a program is no part of another.
NOT_FROM = {
    "experiments": ["apps/nvcache", "apps/nvcached"],
}
# Public headers that carry only types, which every room may use.
TYPE_HEADERS = {"nvcache/bytes.h", "nvcache/block_key.h", "nvcache/verdict.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SUFFIXES = (".h", ".cc", ".c")


def room_of(path):
    """The innermost room that a path relative to the root lies in, or None."""
    for folder in pathlib.PurePosixPath(path).parents:
        if folder.as_posix() in LEVEL:
            return folder.as_posix()
    return None


def target_of(root, including, text):
    """The file below the root that an include names, as a path relative to the root, or None."""
    beside = including.parent / text
    for candidate in (root / text, root / "src" / text, root / "tests" / text, beside):
        if candidate.is_file():
            return candidate.resolve().relative_to(root.resolve()).as_posix()
    return None


def breach_of(own, target):
    """Why a file of the room `own` must not include `target`, or None."""
    other = room_of(target)
    if other is None or other == own:
        return None
    if LEVEL[other] >= LEVEL[own]:
        return f"{other} does not lie below {own}"
    for room, forbidden in NOT_FROM.items():
        if own.split("/")[0] == room and other in forbidden:
            return f"{other} is a program of its own"
    return None


def check(root):
    breaches = []
    tops = sorted({room.split("/")[0] for room in LEVEL})
    for path in sorted(p for top in tops for p in (root / top).rglob("*") if p.suffix in SUFFIXES):
        relative = path.relative_to(root).as_posix()
        own = room_of(relative)
        if own is None:
            breaches.append(f"{relative}: lies in no room; known: {', '.join(LEVEL)}")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            text = found.group(1)
            if text.startswith("nvcache/"):
                if text not in TYPE_HEADERS and LEVEL[own] < LEVEL["src/block_cache"]:
                    breaches.append(f"{relative}:{number}: {own} includes {text}, "
                                    "which promises what lies above it")
                continue
            target = target_of(root, path, text)
            why = breach_of(own, target) if target else None
            if why:
                breaches.append(f"{relative}:{number}: {own} includes {text}, but {why}")
    return breaches


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)

        def write(path, text):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)

        write("src/base/ok.h", "")
        write("src/block_cache/up.h", '#include "base/ok.h"\n')
        write("tests/block_cache/up_test.cc", '#include "block_cache/up.h"\n')
        assert check(root) == [], check(root)
        write("src/adapters/wiredtiger/x.h", "")
        write("experiments/ycsb/run.h", "")
        write("apps/nvcache/calibrate.h", "")
        write("src/base/bad.h", '#include "block_cache/up.h"\n')
        write("src/adapters/rocksdb/bad.h", '#include "adapters/wiredtiger/x.h"\n')
        write("src/tiered_cache/bad.h", '#include "experiments/ycsb/run.h"\n')
        write("experiments/ycsb/bad.h", '#include "apps/nvcache/calibrate.h"\n')
        write("src/unknown/bad.h", "")
        found = check(root)
        assert len(found) == 5, found
    print("an upward, a sideways, an experiment's, a program's and a homeless file were all found")


def main():
    if "--self-test" in sys.argv[1:]:
        self_test()
        return 0
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    breaches = check(root)
    print("\n".join(breaches) if breaches else "every include points downwards")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
