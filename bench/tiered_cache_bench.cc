// The cost of a block cache to RocksDB: lookups, insertions and evictions through
// rocksdb::Cache, of the tiered cache with DRAM alone beside RocksDB's own LRUCache and
// HyperClockCache.
//
// Objects are small, so that the cache is measured and not their memory.
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "adapters/rocksdb/versions.h"
#include "base/prng.h"
#include "benchmark/benchmark.h"
#include "nvcache/rocksdb.h"
#include "rocksdb/cache.h"

namespace nvcache {
namespace {

constexpr uint64_t kObjects = 200'000;
constexpr size_t kChargeBytes = 4096;

std::string key_of(uint64_t i) {
  std::string key(16, '\0');
  std::memcpy(key.data(), &i, sizeof i);
  return key;
}

#if NVCACHE_ROCKSDB_7
void destroy(const ::rocksdb::Slice&, void* value) { delete static_cast<uint64_t*>(value); }
#else
void destroy(void* value, ::rocksdb::MemoryAllocator*) { delete static_cast<uint64_t*>(value); }
const ::rocksdb::Cache::CacheItemHelper kHelper(::rocksdb::CacheEntryRole::kMisc, destroy);
#endif

enum class Kind : uint8_t { kLru, kHyperClock, kTiered };

std::shared_ptr<::rocksdb::Cache> open(Kind kind, uint64_t objects) {
  const size_t capacity = objects * (kChargeBytes + 256) * 5 / 4;
  if (kind == Kind::kLru) return ::rocksdb::NewLRUCache(capacity, /*num_shard_bits=*/6);
  if (kind == Kind::kHyperClock) {
    return ::rocksdb::HyperClockCacheOptions(capacity, kChargeBytes, /*_num_shard_bits=*/6)
        .MakeSharedCache();
  }
  std::shared_ptr<::rocksdb::Cache> cache;
  const ::rocksdb::Status opened = rocksdb::NewTieredCache(
      {.spec = "tiered://?shards=64&dram=" + std::to_string(capacity)}, &cache);
  if (!opened.ok()) std::abort();
  return cache;
}

void insert(::rocksdb::Cache& cache, uint64_t i) {
#if NVCACHE_ROCKSDB_7
  const ::rocksdb::Status put = cache.Insert(key_of(i), new uint64_t(i), kChargeBytes, destroy);
#else
  const ::rocksdb::Status put = cache.Insert(key_of(i), new uint64_t(i), &kHelper, kChargeBytes);
#endif
  if (!put.ok()) std::abort();
}

::rocksdb::Cache& filled(Kind kind) {
  static std::shared_ptr<::rocksdb::Cache> caches[3];
  std::shared_ptr<::rocksdb::Cache>& cache = caches[static_cast<size_t>(kind)];
  if (cache == nullptr) {
    cache = open(kind, kObjects);
    for (uint64_t i = 0; i < kObjects; ++i) insert(*cache, i);
  }
  return *cache;
}

void hits(benchmark::State& state, Kind kind) {
  static std::mutex mutex;
  mutex.lock();
  ::rocksdb::Cache& cache = filled(kind);
  mutex.unlock();
  Prng random(static_cast<uint64_t>(state.thread_index()) + 1);
  uint64_t found = 0;
  for (auto _ : state) {
    ::rocksdb::Cache::Handle* const handle = cache.Lookup(key_of(random.below(kObjects)));
    if (handle == nullptr) continue;
    found += *static_cast<uint64_t*>(cache.Value(handle)) < kObjects ? 1 : 0;
    cache.Release(handle);
  }
  if (found != static_cast<uint64_t>(state.iterations())) state.SkipWithError("a miss");
  state.SetItemsProcessed(state.iterations());
}
void BM_BlockCacheHit_RocksdbLru(benchmark::State& state) { hits(state, Kind::kLru); }
void BM_BlockCacheHit_HyperClock(benchmark::State& state) { hits(state, Kind::kHyperClock); }
void BM_BlockCacheHit_TieredDram(benchmark::State& state) { hits(state, Kind::kTiered); }
BENCHMARK(BM_BlockCacheHit_RocksdbLru)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(BM_BlockCacheHit_HyperClock)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(BM_BlockCacheHit_TieredDram)->Threads(1)->Threads(2)->UseRealTime();

void evicting(benchmark::State& state, Kind kind) {
  const std::shared_ptr<::rocksdb::Cache> cache = open(kind, 10'000);
  uint64_t next = 0;
  for (auto _ : state) insert(*cache, next++);
  state.SetItemsProcessed(state.iterations());
}
void BM_BlockCacheInsertEvicting_RocksdbLru(benchmark::State& state) {
  evicting(state, Kind::kLru);
}
void BM_BlockCacheInsertEvicting_HyperClock(benchmark::State& state) {
  evicting(state, Kind::kHyperClock);
}
void BM_BlockCacheInsertEvicting_TieredDram(benchmark::State& state) {
  evicting(state, Kind::kTiered);
}
BENCHMARK(BM_BlockCacheInsertEvicting_RocksdbLru);
BENCHMARK(BM_BlockCacheInsertEvicting_HyperClock);
BENCHMARK(BM_BlockCacheInsertEvicting_TieredDram);

}  // namespace
}  // namespace nvcache
