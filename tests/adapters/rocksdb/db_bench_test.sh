#!/usr/bin/env bash
# Runs the stock db_bench, never built for nvcache, with libnvcache_rocksdb.so
# preloaded, and checks what it read and what its second tier served.
# Usage: db_bench_test.sh LIBNVCACHE_ROCKSDB.SO     Exit: 0 good, 1 bad, 77 skipped.
set -euo pipefail

library=$1
if ! command -v db_bench >/dev/null; then
  echo "skipped: no db_bench (Debian: rocksdb-tools)"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
records=30000

fail() {
  echo "FAILED: $1"
  [[ -f $work/out ]] && grep -vE " P50 : | COUNT : 0$" "$work/out"
  exit 1
}

# bench ARGUMENTS...: output to $work/out
bench() {
  db_bench --stats_interval_seconds=1000 --db="$work/db" --num=$records --value_size=400 \
    --compression_type=none --seed=7 --threads=1 "$@" >"$work/out" 2>&1
}

# read_all PRELOAD URI: reads every key twice in order, then at random
read_all() {
  local preload=$1 uri=$2
  LD_PRELOAD=$preload NVCACHE_STATS_JSON=$work/stats.json bench --use_existing_db \
    --benchmarks=readseq,readtocache,readrandom --use_direct_reads --cache_size=300000 \
    --cache_numshardbits=0 --statistics --disable_auto_compactions \
    --secondary_cache_uri="$uri"
}

ticker() { sed -n "s/^$1 COUNT : //p" "$work/out"; }
stat() { sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$work/stats.json" | tail -1; }

check_all_found() {
  grep -q "($records of $records found)" "$work/out" || fail "$1: not every key was found"
}

bench --benchmarks=fillseq,compact --disable_wal || fail "db_bench could not fill its database"

# A tier that holds everything, then one that evicts, then one on a file.
tiers=("size=64MiB&admission=always" "size=2MiB&admission=always&eviction=clock&verify=always"
  "size=4MiB&medium=file:$work/medium,io=direct&admission=second_touch&eviction=clock")
for tier in "${tiers[@]}"; do
  read_all "$library" "nvcache://?$tier" || fail "$tier: db_bench exits with an error"
  check_all_found "$tier"
  hits=$(ticker rocksdb.secondary.cache.hits)
  [[ ${hits:-0} -gt 1000 ]] || fail "$tier: ${hits:-no} hits in the second tier"
  [[ $hits -eq $(stat hits) ]] || fail "$tier: $hits hits, but nvcache counted $(stat hits)"
  echo "ok: $tier: $hits hits, $(stat evictions) evictions"
done

# Overwriting makes db_bench compact: those lookups are known for background.
rm -f "$work/stats.json"
LD_PRELOAD=$library NVCACHE_STATS_JSON=$work/stats.json bench --use_existing_db \
  --benchmarks=overwrite,compact --cache_size=300000 --write_buffer_size=1000000 \
  --secondary_cache_uri='nvcache://?size=8MiB' || fail "overwrite: db_bench exits with an error"
[[ $(stat background_misses) -gt 1000 ]] || fail "overwrite: no background lookups counted"
[[ $(stat misses) -eq $(stat background_misses) ]] || fail "overwrite: foreground lookups counted"
echo "ok: $(stat background_misses) lookups by compaction"

# Without a second tier there are none: the counter above is not something else's.
read_all "$library" "" || fail "no tier: db_bench exits with an error"
check_all_found "no tier"
[[ $(ticker rocksdb.secondary.cache.hits) -eq 0 ]] || fail "hits without a second tier"
echo "ok: no hits without a second tier"

# Without the library the stock db_bench does not know the URI.
if read_all "" "nvcache://?size=64MiB"; then
  fail "db_bench knows nvcache:// without the library"
fi
grep -q "No secondary cache registered" "$work/out" || fail "db_bench did not say why it stopped"
echo "ok: without the library the URI is unknown"

# A mistake in the URI stops db_bench with a message that names it.
if read_all "$library" "nvcache://?size=64MiB&admision=always"; then
  fail "a bad URI was accepted"
fi
grep -q "unknown setting 'admision'; allowed: size" "$work/out" || fail "the message does not help"
echo "ok: $(grep -o "unknown setting 'admision'[^:]*" "$work/out")"
