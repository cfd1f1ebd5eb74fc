#!/usr/bin/env bash
# Compiles the adapters against the headers of RocksDB 11.8, without linking.
# Usage: rocksdb11_compile_test.sh SOURCE_FOLDER CACHE_FOLDER COMPILER
# Exit: 0 they compile; 1 they do not; 77 skipped: the headers cannot be had here.
set -euo pipefail

source=$1 cache=$2 compiler=$3
headers=$("$source/tools/rocksdb_headers.sh" "$cache") || exit $?
version=$(sed -n 's/^#define ROCKSDB_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' \
  "$headers/rocksdb/version.h" | paste -sd.)
if [[ ${version%%.*} -lt 11 ]]; then
  echo "FAILED: $headers has RocksDB $version, not 11"
  exit 1
fi
for file in "$source"/src/adapters/rocksdb/*.cc; do
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wshadow -Werror \
    -I"$source/include" -I"$source/src" -isystem "$headers" "$file"
done
echo "ok: the adapters compile against RocksDB $version"
