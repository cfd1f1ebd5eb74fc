#!/usr/bin/env bash
# Simulations held against a real WiredTiger; crash tests, and those of threads under tsan, with
# one seed after the other.
#
# usage: long_lane.sh [RUNS]   (script/test long calls it): 10
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/test_builds.sh

script/wiredtiger
build_release nvcache_kv_tests nvcached nvcache_unit_tests nvcache_experiments_tests
if grep -q '^NVCACHE_ROCKSDB_LIBRARY:[^=]*=/' build/release/CMakeCache.txt; then
  build_release nvcache_rocksdb_tests
fi
cmake --preset tsan "${clang[@]}" > build/results/tsan.configure.log 2>&1 ||
  { tail -n 30 build/results/tsan.configure.log; exit 1; }
cmake --build build/tsan -j "$(nproc)" --target nvcache_contract_tests nvcache_unit_tests \
  nvcache_kv_tests
NVCACHE_AGAINST_REAL=1 build/release/tests/nvcache_experiments_tests --gtest_brief=1 \
  --gtest_filter='*SimulatedAgainstReal*'
NVCACHE_MODEL_SEEDS=10000 build/release/tests/nvcache_unit_tests --gtest_brief=1 \
  --gtest_filter='RemovalModel*'
for ((seed = 1; seed <= ${1:-10}; ++seed)); do
  echo "NVCACHE_TEST_SEED=$seed [$SECONDS s]"
  export NVCACHE_TEST_SEED=$seed
  build/release/tests/kv_store/nvcache_kv_tests --gtest_brief=1 \
    --gtest_filter='Kv*Crash*:Kv*Kill*:KvLive*:KvVersions*:RecoveryTest.*:*Concurrent*:KvClean*'
  build/release/tests/nvcache_unit_tests --gtest_brief=1 \
    --gtest_filter='RegionKill*:TieredRestart*'
  if [[ -x build/release/tests/adapters/rocksdb/nvcache_rocksdb_tests ]]; then  # fifty kills
    build/release/tests/adapters/rocksdb/nvcache_rocksdb_tests --gtest_brief=1 \
      --gtest_filter='*RocksdbKill*:TieredRestartDb.*'
  fi
  for tests in nvcache_contract_tests nvcache_unit_tests kv_store/nvcache_kv_tests; do
    build/tsan/tests/$tests --gtest_brief=1 \
      --gtest_filter='*Concurrent*:*Threads*:KvCleanAhead*:*LookupsFind*:*OtherThreads*'
  done
  for durability in cache each; do
    python3 tests/apps/nvcached/kill9_test.py build/release/bin/nvcached $durability
  done
done
