#!/usr/bin/env python3
"""Our libraries bring nothing into a program but the C and C++ libraries, and show it no name but
their own and those of RocksDB whose place they take.

usage: needs_test.py LIBRARY...
"""
import re
import subprocess
import sys

ALLOWED = re.compile(r"(libc|libm|libdl|libstdc\+\+|libgcc_s|ld-linux[-\w]*|libpthread|librt"
                     r"|libnvcache\w*)\.so[.\d]*$")
# The libraries whose guests ours are: what these need, their programs have.
HOSTS = re.compile(r"(librocksdb|libwiredtiger)[-.\d]*\.so[.\d]*$")
OWN_NAMES = re.compile(r"nvcache_|Java_nvcache_|wiredtiger_extension_init$"
                       r"|((typeinfo|vtable|typeinfo name|VTT|guard variable|non-virtual thunk)"
                       r" (for|to) |std::\w+<.*> )?nvcache::|.* nvcache::[\w:]+(<.*>)?\("
                       r"|rocksdb::(NewLRUCache\(|\w+CacheOptions::MakeSharedCache\(\) const$)")


def needed_by(path):
    text = subprocess.run(["readelf", "-d", "-W", path], capture_output=True, text=True,
                          check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))


def loaded_with(path):
    """All that the loader would bring, but the kernel's own."""
    text = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0].rsplit("/", 1)[-1] for line in text.splitlines()}
    return {name for name in names if not name.startswith("linux-vdso")}


def shown_by(path):
    """The names that other libraries of the process could take for theirs."""
    text = subprocess.run(["nm", "-D", "-C", "--defined-only", path], capture_output=True,
                          text=True, check=True).stdout
    return {line.split(maxsplit=2)[2] for line in text.splitlines()}


def main(libraries):
    failed = 0
    for path in libraries:
        needed = needed_by(path)
        brings = needed if any(HOSTS.match(name) for name in needed) else loaded_with(path)
        wrong = sorted(name for name in brings
                       if not ALLOWED.match(name) and not HOSTS.match(name))
        print(f"{path.rsplit('/', 1)[-1]}: {len(brings)} libraries"
              + (f", not allowed: {' '.join(wrong)}" if wrong else ""))
        others = sorted(name for name in shown_by(path) if not OWN_NAMES.match(name))
        if others:
            print(f"  it shows {len(others)} names that are not its own:", *others[:5],
                  sep="\n    ")
        failed |= bool(wrong) or not brings or bool(others)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
