#!/usr/bin/env bash
# Runs the stock cache_bench, which looks up, inserts and erases in rocksdb::Cache
# from several threads, with nvcache as the second tier.
# Usage: cache_bench_test.sh LIBNVCACHE_ROCKSDB.SO     Exit: 0 good, 1 bad, 77 skipped.
set -euo pipefail

if ! command -v cache_bench >/dev/null; then
  echo "skipped: no cache_bench (Debian: rocksdb-tools)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! LD_PRELOAD=$1 NVCACHE_STATS_JSON=$work/stats.json cache_bench --threads=2 \
  --ops_per_thread=20000 --cache_size=2000000 --value_bytes=4096 \
  --secondary_cache_uri='nvcache://?size=8MiB&admission=always&eviction=clock&verify=always' \
  >"$work/out" 2>&1; then
  echo "FAILED: cache_bench exits with an error"
  cat "$work/out"
  exit 1
fi
hits=$(sed -n 's/.*"hits": *\([0-9]*\).*/\1/p' "$work/stats.json" | tail -1)
if [[ ${hits:-0} -eq 0 ]]; then
  echo "FAILED: no hits in the second tier"
  cat "$work/out" "$work/stats.json"
  exit 1
fi
echo "ok: $hits hits in the second tier"
