#!/usr/bin/env bash
# Runs the stock db_bench, never built for nvcache, on a TieredCache as its whole block
# cache: libnvcache_rocksdb_tiered.so is preloaded. Checks what it read and which tiers served it.
# Usage: tiered_db_bench_test.sh LIBNVCACHE_ROCKSDB_TIERED.SO LIBNVCACHE_ROCKSDB.SO
# Exit: 0 good, 1 bad, 77 skipped.
set -euo pipefail

tiered=$1 adapters=$2
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
  [[ -f $work/stats.json ]] && cat "$work/stats.json"
  exit 1
}

# bench ARGUMENTS...: output to $work/out
bench() {
  db_bench --stats_interval_seconds=1000 --db="$work/db" --num=$records --value_size=400 \
    --compression_type=none --seed=7 --threads=1 "$@" >"$work/out" 2>&1
}

# read_all PRELOAD SPECIFICATION [OPTION]: reads every key twice in order, then at random
read_all() {
  rm -f "$work/stats.json"
  LD_PRELOAD=$1 NVCACHE_TIERED=$2 NVCACHE_STATS_JSON=$work/stats.json bench --use_existing_db \
    --benchmarks=readseq,readtocache,readrandom --use_direct_reads --cache_size=300000 \
    --cache_numshardbits=0 --statistics --disable_auto_compactions ${3:-}
}

ticker() { sed -n "s/^$1 COUNT : //p" "$work/out"; }

# tier FIELD: of each tier of the cache that has the program's own size, one a line
tier() {
  python3 - "$1" "$work/stats.json" << 'END'
import json, sys
text, at = open(sys.argv[2]).read(), 0
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    cache, at = json.JSONDecoder().raw_decode(text, at)
    if cache["tiers"][0]["size_bytes"] == 300000:
        for tier in cache["tiers"]:
            print(tier.get(sys.argv[1], ""))
END
}

check_all_found() {
  grep -q "($records of $records found)" "$work/out" || fail "$1: not every key was found"
}

bench --benchmarks=fillseq,compact --disable_wal || fail "db_bench could not fill its database"

specifications=("tiered://?policy=dram_first&tier=(size=64MiB)"
  "tiered://?policy=scm_first(2)&tier=(size=4MiB,medium=emulated:optane)"
  "tiered://?policy=bidirectional(2)&tier=(size=1MiB)&tier=(size=8MiB,medium=file:$work/medium,io=direct)")
for spec in "${specifications[@]}"; do
  read_all "$tiered" "$spec" || fail "$spec: db_bench exits with an error"
  check_all_found "$spec"
  mapfile -t hits < <(tier hits)
  below=0
  for one in "${hits[@]:1}"; do
    [[ $one -gt 100 ]] || fail "$spec: a tier served $one lookups"
    below=$((below + one))
  done
  [[ $below -gt 1000 ]] || fail "$spec: $below hits below the first tier"
  [[ $(ticker rocksdb.secondary.cache.hits) -eq $below ]] ||
    fail "$spec: $below hits below, but RocksDB counted $(ticker rocksdb.secondary.cache.hits)"
  echo "ok: $spec: tiers served ${hits[*]}"
done

# In place of a HyperClockCache, too.
clock=--cache_type=hyper_clock_cache
read_all "$tiered" "${specifications[0]}" "$clock" || fail "$clock: db_bench exits with an error"
check_all_found "$clock"
mapfile -t hits < <(tier hits)
[[ ${hits[1]:-0} -gt 1000 ]] || fail "$clock: the tier served ${hits[1]:-no} lookups"
echo "ok: $clock: tiers served ${hits[*]}"
read_all "$tiered" "" "$clock" || fail "$clock without a specification: an error"
check_all_found "$clock without a specification"
[[ ! -e $work/stats.json ]] || fail "$clock without a specification: the block cache was replaced"

# Without lower tiers it is a block cache like RocksDB's.
read_all "$tiered" "tiered://" || fail "no lower tier: db_bench exits with an error"
check_all_found "no lower tier"
misses=$(ticker rocksdb.block.cache.miss)
[[ $(tier hits) -gt 100 ]] || fail "no lower tier: the cache was not used"
[[ $(ticker rocksdb.secondary.cache.hits) -eq 0 ]] || fail "hits without a lower tier"

# Without the specification, and with the adapters alone, it is RocksDB's.
for preload in "$tiered:" "$adapters:tiered://"; do
  read_all "${preload%%:*}" "${preload#*:}" || fail "$preload: db_bench exits with an error"
  check_all_found "$preload"
  [[ ! -e $work/stats.json ]] || fail "$preload: the block cache was replaced"
done
own=$(ticker rocksdb.block.cache.miss)
[[ $((misses * 20)) -le $((own * 21)) && $((own * 20)) -le $((misses * 21)) ]] ||
  fail "$misses misses where RocksDB's own cache has $own"
echo "ok: without lower tiers $misses misses, RocksDB's own cache $own"

# The user's settings win over the program's options.
read_all "$tiered" "tiered://?shards=2&high_priority=0.8&dram=300000B" ||
  fail "a setting that the program has, too: db_bench exits with an error"
check_all_found "a setting that the program has, too"

# All caches of the program share a tier by its name, and it is warm in the next program.
shared="tiered://?tier=(name=bench,size=32MiB,medium=file:$work/shared,space=regions,restart=warm)"
for life in first second; do
  read_all "$tiered" "$shared" || fail "a shared tier, $life: db_bench exits with an error"
  check_all_found "a shared tier, $life"
done
recovered=$(tier block_cache | sed -n "s/.*'recovered_blocks': \([0-9]*\).*/\1/p")
[[ $recovered -gt 1000 ]] || fail "a shared tier: $recovered blocks came back"
echo "ok: $recovered blocks of a shared tier came back"

# A mistake stops db_bench with a message that names it.
for spec in "tiered://?polcy=dram_first" "tiered://?shards=3" "${shared/name=bench,/}"; do
  if read_all "$tiered" "$spec"; then fail "$spec was accepted"; fi
  grep "^nvcache: NVCACHE_TIERED: " "$work/out" || fail "$spec: the message does not help"
done
