#!/usr/bin/env python3
"""Checks that every file of src/ includes only from its own folder and from floors below.

usage: check_layers.py [ROOT]          check the tree at ROOT (default: .)
       check_layers.py --self-test     prove that an upward include is found

Prints each breach as file:line and exits with 1 if there is any.
"""
import pathlib
import re
import sys
import tempfile

# Bottom to top. Folders on one floor do not include each other.
FLOORS = [
    ["base"],
    ["spec"],
    ["medium"],
    ["space"],
    ["index"],
    ["policy"],
    ["block_cache", "kv_store"],
    ["file_cache", "tiered_cache"],
    ["cache"],
    ["kv"],
    ["engines/rocksdb", "engines/wiredtiger"],
    ["adapters/rocksdb", "adapters/wiredtiger"],
    ["server"],
    ["workload"],
    ["cli"],
]
LEVEL = {folder: level for level, floor in enumerate(FLOORS) for folder in floor}
# Public headers that carry only types, which every floor may use.
TYPE_HEADERS = {"nvcache/bytes.h", "nvcache/block_key.h", "nvcache/verdict.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def folder_of(path):
    """The floor's folder that a path relative to src/ lies in, or None."""
    parts = pathlib.PurePosixPath(path).parts
    for length in (2, 1):
        name = "/".join(parts[:length])
        if len(parts) > length and name in LEVEL:
            return name
    return None


def check(root):
    breaches = []
    source = root / "src"
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        relative = path.relative_to(source).as_posix()
        own = folder_of(relative)
        if own is None:
            breaches.append(f"{relative}: lies on no floor; known: {', '.join(LEVEL)}")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            target = found.group(1)
            if target.startswith("nvcache/"):
                if target not in TYPE_HEADERS and LEVEL[own] < LEVEL["block_cache"]:
                    breaches.append(f"src/{relative}:{number}: {own} includes {target}, "
                                    "which promises what lies above it")
                continue
            other = folder_of(target)
            if other is None or other == own:
                continue
            if LEVEL[other] >= LEVEL[own]:
                breaches.append(f"src/{relative}:{number}: {own} includes {target}, "
                                f"but {other} does not lie below {own}")
    return breaches


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for folder in ("src/base", "src/cache", "src/engines/rocksdb", "src/engines/wiredtiger"):
            (root / folder).mkdir(parents=True)
        (root / "src/cache/up.h").write_text('#include "base/ok.h"\n')
        assert check(root) == []
        (root / "src/base/bad.h").write_text('#include "cache/up.h"\n')
        (root / "src/engines/rocksdb/bad.h").write_text('#include "engines/wiredtiger/x.h"\n')
        found = check(root)
        assert len(found) == 2, found
    print("an upward and a sideways include were both found")


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
