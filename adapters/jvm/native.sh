#!/bin/sh
# Puts the libraries that CMake built into the resources of the jar (pom.xml calls it).
#
# usage: native.sh FOLDER[:FOLDER...] CLASSES
#   FOLDER    holds libnvcache_jvm.so, and beside it nvcache/libnvcache_jvm_*.so: of a build folder
#             src/adapters/jvm, or the lib/ of an installation; one for each processor
#   CLASSES   the root of the jar
set -eu
library=libnvcache_jvm.so

fail() {
  echo "native.sh: $*" >&2
  exit 1
}

# The processor that a library is made for, as `uname -m` names it: the number in its header.
processor_of() {  # library
  case $(od -An -t u2 -j 18 -N 2 "$1" | tr -d ' ') in
    62) echo x86_64 ;;
    183) echo aarch64 ;;
    *) fail "$1 is for no processor that nvcache knows" ;;
  esac
}

add() {  # folder
  [ -f "$1/$library" ] || fail "no $library in $1; -Dnvcache.libraries=FOLDER names its folder"
  grep -q Java_nvcache_Nvcache_open "$1/$library" ||
    fail "$1/$library was built without a JDK: set JAVA_HOME, configure and build again"
  processor=$(processor_of "$1/$library")
  to=$native/Linux-$processor
  [ ! -e "$to" ] || fail "$1: the jar has libraries for $processor already"
  mkdir -p "$to/nvcache"
  cp "$1/$library" "$to/"
  cp "$1"/nvcache/libnvcache_jvm_*.so "$to/nvcache/"
  # What debuggers want is most of a build that has it; a portable build has none.
  if [ "$processor" = "$(uname -m)" ] && command -v strip > /dev/null; then
    strip --strip-debug "$to/$library" "$to"/nvcache/*.so
  fi
  # A digest of them all, by which copies of the class in one process know each other; their names.
  (
    cd "$to"
    set -- "$library" nvcache/*.so
    {
      sha256sum "$@" | sha256sum | cut -c 1-16
      printf '%s\n' "$@"
    } > list
  )
}

folders=$1
native=$2/nvcache/native
rm -rf "$native"
IFS=:
for folder in $folders; do add "$folder"; done
