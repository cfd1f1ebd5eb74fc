#!/usr/bin/env bash
# Builds what runs on any Linux with glibc 2.28 or newer, and tests it here: what it needs and
# shows, nvcached by its tests, the library under a C program.
#
# usage: portable_lane.sh    (script/test portable calls it)
set -euo pipefail
cd "$(dirname "$0")/.."

script/setup --for portable
script/portable
mkdir -p build/results
log=build/results/portable.log
# Parts of libnvcache_jvm.so still need libstdc++.
{ cmake --preset portable -DNVCACHE_JVM=OFF && cmake --build --preset portable; } > "$log" 2>&1 ||
  { tail -n 40 "$log"; exit 1; }
build=$PWD/build/portable
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

passed=0
step() {  # name command...
  local name=$1
  shift
  "$@" > "$work/log" 2>&1 || { cat "$work/log"; echo "portable: $name failed" >&2; exit 1; }
  echo "portable: $name"
  passed=$((passed + 1))
}
mapfile -t made < <(find "$build/bin" "$build/src" -type f \( -perm -u=x -o -name '*.so*' \) \
  ! -path '*/CMakeFiles/*')
[[ ${#made[@]} -ge 3 ]] || { echo "portable: too little was built: ${made[*]}" >&2; exit 1; }
grep -A4 'warning:' "$log" && { echo "portable: the compiler warns" >&2; exit 1; }
step "needs glibc 2.28 at most: ${made[*]##*/}" python3 tests/guest/portable_test.py "${made[@]}"
refuses_the_machines_own() {
  echo 'int main() { throw 1; }' > "$work/own.cc"
  c++ "$work/own.cc" -o "$work/own"
  ! python3 tests/guest/portable_test.py "$work/own"
}
step "the check refuses what c++ makes here" refuses_the_machines_own
c_program() {
  cc -Wall -Iinclude examples/c_quickstart.c -o "$work/c" -L"$build/src" -lnvcache
  LD_LIBRARY_PATH=$build/src "$work/c"
}
step "a C program with libnvcache.so" c_program
for test in operations hostile clients kill9; do
  step "nvcached: $test" python3 "tests/apps/nvcached/${test}_test.py" "$build/bin/nvcached"
done
step "nvcache --version" "$build/bin/nvcache" --version
echo "portable: $passed passed, 0 failed"
