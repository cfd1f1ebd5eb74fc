#!/usr/bin/env python3
"""Our libraries bring nothing into a program that it does not need for them.

usage: needs_test.py LIBRARY...
"""
import re
import subprocess
import sys

ALLOWED = re.compile(r"(libc|libm|libdl|libstdc\+\+|libgcc_s|ld-linux[-\w]*|libpthread|librt"
                     r"|libabsl_\w+|libfmt|libxxhash|libnvcache\w*)\.so[.\d]*$")
# The libraries whose guests ours are: what these need, their programs have.
HOSTS = re.compile(r"(librocksdb|libwiredtiger)[-.\d]*\.so[.\d]*$")


def needed_by(path):
    text = subprocess.run(["readelf", "-d", "-W", path], capture_output=True, text=True,
                          check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))


def loaded_with(path):
    """All that the loader would bring, but the kernel's own."""
    text = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0].rsplit("/", 1)[-1] for line in text.splitlines()}
    return {name for name in names if not name.startswith("linux-vdso")}


def main(libraries):
    failed = 0
    for path in libraries:
        needed = needed_by(path)
        brings = needed if any(HOSTS.match(name) for name in needed) else loaded_with(path)
        wrong = sorted(name for name in brings
                       if not ALLOWED.match(name) and not HOSTS.match(name))
        print(f"{path.rsplit('/', 1)[-1]}: {len(brings)} libraries"
              + (f", not allowed: {' '.join(wrong)}" if wrong else ""))
        failed |= bool(wrong) or not brings
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
