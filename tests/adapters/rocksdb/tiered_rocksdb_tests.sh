#!/usr/bin/env bash
# Runs RocksDB's own tests of its block cache, as script/rocksdb_tests builds them, with a
# TieredCache in place of each LRU cache that they make.
# Usage: tiered_rocksdb_tests.sh LIBNVCACHE_ROCKSDB_TIERED.SO SIZE_CLASSES.SO SCRIPT CASE
#   SIZE_CLASSES.SO  see preload/size_classes.cc
#   SCRIPT  script/rocksdb_tests, which is asked where they are
#   CASE    dram_only, dram_first, scm_first, bidirectional or stress
# Exit: 0 good, 1 bad, 77 skipped.
set -euo pipefail

library=$1 size_classes=$2 bin=$("$3" --root)/bin case=$4
if [[ ! -x $bin/db_stress ]]; then
  echo "skipped: RocksDB's own tests are not built (script/rocksdb_tests gets and builds them)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TEST_TMPDIR=$work

fail() {
  echo "FAILED: $1"
  grep -vE '^\[ +(RUN|OK) |^\.\.\. finished' "$work/out" | tail -n 60 || true
  exit 1
}

# with SPECIFICATION COMMAND...: output to $work/out
with() {
  local spec=$1
  shift
  rm -f "$work/stats.json"
  LD_PRELOAD=$library${allocator:+:$allocator} NVCACHE_TIERED=$spec \
    NVCACHE_STATS_JSON=$work/stats.json \
    "$@" > "$work/out" 2>&1
}

# most FIELD TIER: the largest value that any cache of the run has there
most() {
  python3 - "$work/stats.json" "$1" "$2" << 'END'
import json, sys
text, at, most = open(sys.argv[1]).read(), 0, 0
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    cache, at = json.JSONDecoder().raw_decode(text, at)
    if len(cache["tiers"]) > int(sys.argv[3]):
        most = max(most, cache["tiers"][int(sys.argv[3])][sys.argv[2]])
print(most)
END
}

# The tests that are left out, and why.
left_out() {  # test program
  case $1 in
    cache_test)
      # Asks the shards of RocksDB's own class.
      echo '*DefaultShardBits*'
      ;;
    db_block_cache_test)
      # Compares the text of a message of RocksDB's own cache.
      echo 'DBBlockCacheTest.TestWithCompressedBlockCache'
      if [[ $case == scm_first ]]; then
        # Insert says OkOverwritten of the first tier only: RocksDB counts too few blocks
        # as redundant.
        echo 'DBBlockCacheTest.AddRedundantStats'
        # Wants a strict cache to refuse blocks: those that enter below take no DRAM of it.
        echo 'DBBlockCacheTest.TestWithoutCompressedBlockCache'
        # Counts the first tier's data blocks by role: there are none.
        echo 'DBBlockCacheTest.CacheEntryRoleStats'
      fi
      ;;
    block_based_table_reader_test)
      # Looks for blocks with a lookup that sees the first tier only.
      [[ $case != scm_first ]] || echo 'MultiGet/*'
      ;;
    db_basic_test)
      # Empties the cache by SetCapacity(0), which moves blocks down: no read is late then.
      [[ $case == dram_only ]] || echo 'DeadlineIO/*'
      ;;
  esac
}

run() {  # specification test-program [filter]
  local filter=${3:-*} without
  without=$(left_out "$2" | paste -sd:)
  with "$1" "$bin/$2" --gtest_filter="$filter${without:+:-$without}" || fail "$2 with $1"
  grep -q '^\[  PASSED  \] [1-9]' "$work/out" || fail "$2 with $1: no test ran"
  if grep -q '^\[  FAILED  \]' "$work/out"; then fail "$2 with $1"; fi
  local below=
  if [[ $case != dram_only && -f $work/stats.json ]]; then
    below=", up to $(most blocks 1) blocks in a second tier and $(most hits 1) hits"
  fi
  echo "ok: $2: $(sed -n 's/^\[  PASSED  \] \(.*\)\./\1/p' "$work/out")" \
    "passed$below${without:+; left out: $without}"
}

suite() {  # specification
  # RocksDB's cache types are numbered: 0 is the LRU cache.
  run "$1" cache_test '*/0'
  [[ -s $work/stats.json ]] || fail "cache_test: no cache was replaced"
  run "$1" cache_reservation_manager_test
  run "$1" write_buffer_manager_test
  run "$1" block_based_table_reader_test
  allocator=$size_classes run "$1" blob_source_test
  run "$1" sim_cache_test
  run "$1" db_block_cache_test
}

# stress SPECIFICATION OPTIONS...: RocksDB's stress test checks each read against what it
# wrote, over reopening and compaction.
stress() {
  local spec=$1
  shift
  rm -rf "$work/db" "$work/expected"
  mkdir "$work/expected"
  with "$spec" "$bin/db_stress" --db="$work/db" --expected_values_dir="$work/expected" \
    --destroy_db_initially=1 --threads=4 --ops_per_thread=6000 --reopen=2 --max_key=5000 \
    --value_size_mult=33 --column_families=1 --clear_column_family_one_in=0 \
    --test_batches_snapshots=0 --cache_size=100000 --cache_numshardbits=0 \
    --use_direct_reads=1 --mmap_read=0 \
    --compression_type=none --write_buffer_size=100000 --target_file_size_base=100000 \
    --max_bytes_for_level_base=400000 --cache_index_and_filter_blocks=1 --bloom_bits=10 \
    --seed="${NVCACHE_TEST_SEED:-20221107}" "$@" || fail "db_stress with $spec $*"
  grep -q 'Verification successful' "$work/out" || fail "db_stress with $spec $*"
  local hits
  hits=$(most hits 1)
  [[ $hits -gt 500 ]] || fail "db_stress with $spec $*: $hits hits in the second tier"
  echo "ok: db_stress with $spec $*: $hits hits in the second tier"
}

case $case in
  dram_only) suite "tiered://" ;;
  dram_first) suite "tiered://?policy=dram_first&tier=(size=8MiB)" ;;
  scm_first) suite "tiered://?policy=scm_first(1)&tier=(size=8MiB)" ;;
  bidirectional)
    suite "tiered://?policy=bidirectional(1)&tier=(size=1MiB)&tier=(size=8MiB)"
    run "tiered://?policy=bidirectional(1)&tier=(size=8MiB)" db_basic_test '*MultiGet*:*Deadline*'
    ;;
  stress)
    stress "tiered://?policy=dram_first&tier=(size=500KiB)"
    stress "tiered://?policy=scm_first(2)&tier=(size=500KiB,eviction=clock)" \
      --use_multiget=1 --ops_per_thread=15000
    stress "tiered://?policy=bidirectional(1)&tier=(size=256KiB)&tier=(size=1MiB,medium=file:$work/medium,io=direct)" \
      --checkpoint_one_in=2000 --compact_range_one_in=1000 --flush_one_in=1000 \
      --partition_filters=1 --index_type=2
    ;;
  *)
    allowed="dram_only, dram_first, scm_first, bidirectional, stress"
    echo "'$case' is not a case; allowed: $allowed" >&2
    exit 2
    ;;
esac
