#!/usr/bin/env bash
# Builds what runs on any Linux with glibc 2.28 or newer, for both processors, and tests it here:
# what it needs and shows, nvcached by its tests, the library under a C program, the jar with the
# libraries of both under each RocksDB.
#
# usage: portable_lane.sh    (script/test portable calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/test_builds.sh

script/setup --for portable
script/setup --for jvm
script/portable
script/portable aarch64
script/rocksdb_jni
mkdir -p build/results
log=build/results/portable.log
: > "$log"
# Fresh: CMake would remember the compiler of an older folder of script/portable.
for preset in portable portable-aarch64; do
  { cmake --fresh --preset $preset && cmake --build --preset $preset; } >> "$log" 2>&1 ||
    { tail -n 40 "$log"; exit 1; }
done
# The negative control of the tests on Java: every saved block is damaged.
cmake --preset release > "$log.release" 2>&1 &&
  cmake --build build/release --target nvcache_jvm_core_damaged >> "$log.release" 2>&1 ||
  { tail -n 40 "$log.release"; exit 1; }
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
mapfile -t made < <(find "$build"{,-aarch64}/{bin,src} -type f \( -perm -u=x -o -name '*.so*' \) \
  ! -path '*/CMakeFiles/*')
[[ ${#made[@]} -ge 3 ]] || { echo "portable: too little was built: ${made[*]}" >&2; exit 1; }
grep -A4 'warning:' "$log" && { echo "portable: the compiler warns" >&2; exit 1; }
step "need glibc 2.28 at most: ${made[*]#"$PWD"/build/}" \
  python3 tests/guest/portable_test.py "${made[@]}"
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
jvm=src/adapters/jvm/libnvcache_jvm.so
damaging=$(find build/release -name libnvcache_jvm_core_damaged.so)
maven=$(script/rocksdb_jni --maven)
version=$("$build/bin/nvcache" --version)
for jar in org.rocksdb:rocksdbjni:9.7.3 org.rocksdb:rocksdbjni:10.10.1 \
  org.rocksdb:rocksdbjni:11.1.1 com.ververica:frocksdbjni:8.10.0-ververica-1.0; do
  step "the jar for both processors: $jar" python3 tests/adapters/jvm/maven_module_test.py \
    "$build/$jvm:$build-aarch64/$jvm" "$damaging" "$maven" "$work/module" "$jar" \
    "${version#nvcache }"
done
step "nvcache --version" "$build/bin/nvcache" --version
echo "portable: $passed passed, 0 failed"
