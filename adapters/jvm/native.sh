#!/bin/sh
# Puts the libraries that CMake built into the resources of the jar (pom.xml calls it).
#
# usage: native.sh FOLDER CLASSES
#   FOLDER    holds libnvcache_jvm.so, and beside it nvcache/libnvcache_jvm_*.so: of a build folder
#             src/adapters/jvm, or the lib/ of an installation
#   CLASSES   the root of the jar
set -eu
from=$1
library=libnvcache_jvm.so

fail() {
  echo "native.sh: $*" >&2
  exit 1
}
[ -f "$from/$library" ] || fail "no $library in $from; -Dnvcache.libraries=FOLDER names its folder"
grep -q Java_nvcache_Nvcache_open "$from/$library" ||
  fail "$from/$library was built without a JDK: set JAVA_HOME, configure and build again"

to=$2/nvcache/native/$(uname -s)-$(uname -m)
rm -rf "$to"
mkdir -p "$to/nvcache"
cp "$from/$library" "$to/"
cp "$from"/nvcache/libnvcache_jvm_*.so "$to/nvcache/"
# What debuggers want is most of a build that has it.
if command -v strip > /dev/null; then
  strip --strip-debug "$to/$library" "$to"/nvcache/*.so
fi
# A digest of them all, by which copies of the class in one process know each other; their names.
cd "$to"
set -- "$library" nvcache/*.so
{
  sha256sum "$@" | sha256sum | cut -c 1-16
  printf '%s\n' "$@"
} > list
