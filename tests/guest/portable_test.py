#!/usr/bin/env python3
"""A portable build's programs start on any Linux: they need glibc 2.28 at most, and nothing else.

The libraries for RocksDB inside Java programs work with the libstdc++ that a system with glibc 2.28
has.

usage: portable_test.py FILE...
"""
import re
import subprocess
import sys

NEWEST = (2, 28)
ALLOWED = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux[-\w]*)\.so[.\d]*$")
OWN_NAMES = re.compile(r"nvcache_\w+|wiredtiger_extension_init|Java_nvcache_\w+"
                       # RocksDB's functions whose place the preloaded library takes
                       r"|_ZN7rocksdb11NewLRUCacheE\w+|_ZNK7rocksdb\w+15MakeSharedCacheEv")
# Names that a library looks up in RocksDB's C++ library when it meets it (src/adapters/jvm).
LOOKED_UP = re.compile(rb"(?<=\0)(?:_Z|__cxa_|__gxx_|_Unwind_)\w+(?=\0)")
NEWEST_OF = {"GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11), "GCC": (8,)}  # of g++ 8


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def number(version):
    return tuple(map(int, version.split(".")))


def versions_here():
    """Of each name of the C++ library, and of the one below it, the version that first had it."""
    paths = [lines_of("c++", f"-print-file-name={name}")[0]
             for name in ("libstdc++.so.6", "libgcc_s.so.1")]
    found = [line.split()[-1].split("@") for line in lines_of("nm", "-D", "--defined-only", *paths)
             if "@" in line]
    return {parts[0]: parts[-1] for parts in found}


def too_new(names, versions):
    for name in sorted(names & versions.keys()):
        library, _, version = versions[name].partition("_")
        if number(version) > NEWEST_OF[library]:
            yield f"looks up {name} of {versions[name]}"


def faults(path):
    dynamic = "\n".join(lines_of("readelf", "-d", "-W", path))
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    yield from (f"needs {name}" for name in needed if not ALLOWED.match(name))
    if "STATIC_TLS" in dynamic:
        yield "takes static TLS"
    if not needed:
        yield "needs no library at all: not what was to be read"
    named = "\n".join(lines_of("readelf", "-V", "-W", path))
    versions = re.findall(r"Name: (\w+?)_([\d.]+)", named)
    if not versions:
        yield "names no version of a symbol"
    for library, version in sorted(set(versions)):
        if library != "GLIBC" or number(version) > NEWEST:
            yield f"needs {library}_{version}"
    with open(path, "rb") as file:
        looked_up = {name.decode() for name in LOOKED_UP.findall(file.read())}
    if "_rocksdb_" in path:
        yield from too_new(looked_up, versions_here())
        if "_Znwm" not in looked_up:
            yield "looks up no name: not what was to be read"
    if ".so" in path:
        symbols = lines_of("nm", "-D", "--defined-only", path)
        shown = {line.split()[-1].split("@")[0] for line in symbols}
        yield from (f"shows {name}" for name in sorted(shown) if not OWN_NAMES.fullmatch(name))
        if not shown:
            yield "shows nothing"


def main(paths):
    failed = 0
    for path in paths:
        found = list(faults(path))
        print(f"{path.rsplit('/', 1)[-1]}: {'; '.join(found[:8]) or 'good'}")
        failed += bool(found)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
