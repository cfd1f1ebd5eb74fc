#!/usr/bin/env bash
# Builds the RocksDB adapters and their tests against versions of RocksDB, and runs the tests. Part
# of script/test, which calls it: script/test rocksdb.
#
# usage: rocksdb_lane.sh                       the system's version, and those that script/rocksdb
#                                              has built
#        rocksdb_lane.sh VERSION...|all|system these; what is not there is got and built first
#
# build/rocksdb-VERSION            the build
# build/results/rocksdb-VERSION.*  what failed (.json), all that ctest printed (.ctest.log), each
#                                  test (.xml)
# build/results/rocksdb.json       what passed of each version, by face, and when it ran. Put it
#                                  into the guide: tools/rocksdb_table.py write
# A version that cannot be had is left out, with one line. The last line counts tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/test_builds.sh
work_in_memory
trap '[[ -z $scratch ]] || rm -rf "$scratch"' EXIT
out=$PWD/build/results
mkdir -p "$out"

names=("$@")
if [[ ${#names[@]} -eq 0 ]]; then
  mapfile -t names < <(echo system; script/rocksdb --kept)
elif [[ $* == all ]]; then
  mapfile -t names < <(echo system; tools/rocksdb_source.sh --versions)
fi

versions=() tested=()
for name in "${names[@]}"; do
  if [[ $name != system ]]; then name=$(tools/rocksdb_source.sh --find "$name") || exit $?; fi
  versions+=("$name")
done

version_in() {  # folder with rocksdb/version.h
  sed -n 's/^#define ROCKSDB_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' "$1/rocksdb/version.h" |
    paste -sd.
}

say() { printf '\n== [%4d s] %s\n' "$SECONDS" "$*"; }

for version in "${versions[@]}"; do
  build=build/rocksdb-$version stage=rocksdb-$version
  options=(-DNVCACHE_UNITY_TESTS=ON -DNVCACHE_CLI=OFF -DNVCACHE_SERVER=OFF -DNVCACHE_WIREDTIGER=OFF
           -DNVCACHE_JVM=OFF)
  if [[ $version != system ]]; then
    ended=0
    script/rocksdb "$version" || ended=$?
    [[ $ended -ne 77 ]] || continue
    [[ $ended -eq 0 ]] || exit "$ended"
    root=$(script/rocksdb --root "$version")
    options+=("-DNVCACHE_ROCKSDB_INCLUDE_DIR=$root/include"
              "-DNVCACHE_ROCKSDB_LIBRARY=$root/lib/librocksdb.so")
  fi
  say "RocksDB $version: build"
  cmake --preset release -B "$build" "${options[@]}" > "$out/$stage.configure.log" 2>&1 ||
    { tail -n 30 "$out/$stage.configure.log"; exit 1; }
  include=$(sed -n 's/^NVCACHE_ROCKSDB_INCLUDE_DIR:[^=]*=//p' "$build/CMakeCache.txt")
  if [[ ! -f $include/rocksdb/version.h ]]; then
    echo "skipped: the system has no RocksDB (Debian: librocksdb-dev)"
    continue
  fi
  cmake --build "$build" --parallel "${NVCACHE_BUILD_JOBS:-$(nproc)}" --target \
    nvcache_rocksdb_tests nvcache_rocksdb_memory_tests > "$out/$stage.build.log" 2>&1 ||
    { tail -n 60 "$out/$stage.build.log"; exit 1; }
  say "RocksDB $(version_in "$include"): tests"
  python3 tools/run_tests.py run "$out" "$stage" "$build" -L engines -LE outside \
    --output-junit "$out/$stage.xml" || true  # judged below
  tested+=("$stage")
  python3 tools/rocksdb_table.py note "$out/rocksdb.json" "$(version_in "$include")" \
    "$out/$stage.xml"
done

if [[ ${#tested[@]} -eq 0 ]]; then
  echo "total: 0 passed, 0 failed, 0 skipped"
  exit 0
fi
python3 tools/rocksdb_table.py print "$out/rocksdb.json"
say "what failed, once more by itself"
python3 tools/run_tests.py judge "$out" "${tested[@]}"
