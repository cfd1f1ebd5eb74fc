#!/usr/bin/env python3
"""What a portable build made starts on any Linux: it needs glibc 2.28 at most, and nothing else.

usage: portable_test.py FILE...
"""
import re
import subprocess
import sys

NEWEST = (2, 28)
ALLOWED = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux[-\w]*)\.so[.\d]*$")
OWN_NAMES = re.compile(r"nvcache_\w+|wiredtiger_extension_init")


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


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
        if library != "GLIBC" or tuple(map(int, version.split("."))) > NEWEST:
            yield f"needs {library}_{version}"
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
