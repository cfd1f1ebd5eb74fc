#!/usr/bin/env bash
# Finds the headers of a version of RocksDB and prints the folder to include them from.
#
# usage: rocksdb_headers.sh CACHE_FOLDER [PACKAGE_VERSION]
#   PACKAGE_VERSION               of librocksdb-sys (default: 0.19.0, which is RocksDB 11.8.1)
#   NVCACHE_ROCKSDB_HEADERS=DIR   take DIR, which holds rocksdb/version.h, in place of the default
#
# cargo fetches the source of the Rust package librocksdb-sys once, which contains them.
# CACHE_FOLDER keeps the headers alone.
# Exit code: 0 if found; 77 if not, with one line on stderr that says why.
set -euo pipefail

cache=$1 version=${2:-0.19.0}
package="librocksdb-sys = { version = \"=$version\", default-features = false }"

skip() {
  echo "skipped: no headers of RocksDB (librocksdb-sys $version): $1" >&2
  exit 77
}

if [[ -n ${NVCACHE_ROCKSDB_HEADERS:-} && -z ${2:-} ]]; then
  [[ -f $NVCACHE_ROCKSDB_HEADERS/rocksdb/version.h ]] ||
    skip "NVCACHE_ROCKSDB_HEADERS=$NVCACHE_ROCKSDB_HEADERS has no rocksdb/version.h"
  echo "$NVCACHE_ROCKSDB_HEADERS"
  exit 0
fi
if [[ -f $cache/include/rocksdb/version.h ]]; then
  echo "$cache/include"
  exit 0
fi
command -v cargo >/dev/null || skip "cargo is not installed"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
touch "$work/src/lib.rs"
printf '[package]\nname = "headers"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s\n' \
  "$package" >"$work/Cargo.toml"
(cd "$work" && timeout 120 cargo vendor --quiet >/dev/null 2>"$work/log") ||
  skip "cargo could not fetch them ($(tail -1 "$work/log"))"
[[ -f $work/vendor/librocksdb-sys/rocksdb/include/rocksdb/version.h ]] ||
  skip "the package that cargo fetched does not hold them"
# A rename at the end, so that an interrupted run leaves no incomplete folder.
mkdir -p "$cache"
cp -R "$work/vendor/librocksdb-sys/rocksdb/include" "$cache/include.$$"
mv "$cache/include.$$" "$cache/include" 2>/dev/null || rm -rf "$cache/include.$$"
echo "$cache/include"
