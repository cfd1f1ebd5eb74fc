// The cost of a lookup in a cache of 1M blocks of 4 KiB in DRAM, with yardsticks of the
// same run: memcpy from the same cold memory, and a lookup in an
// absl::flat_hash_map of as many 16-byte keys.
//
// NVCACHE_BENCH_BLOCKS=N makes it smaller. CPU time, keys drawn at random.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/hash.h"
#include "base/prng.h"
#include "benchmark/benchmark.h"
#include "medium/medium.h"
#include "nvcache/block_cache.h"

namespace nvcache {
namespace {

constexpr size_t kBlockBytes = 4096;

uint64_t block_count() {
  const char* given = std::getenv("NVCACHE_BENCH_BLOCKS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1'000'000;
}

BlockKey key_of(uint64_t i) { return {mix64(i), i}; }

struct KeyHash {
  size_t operator()(const BlockKey& key) const { return hash_key(key, 1); }
};

// Everything is built once and shared by the benchmarks of a run.
struct Fixture {
  uint64_t blocks = block_count();
  std::unique_ptr<BlockCache> cache = filled("never", "clock");
  std::unique_ptr<BlockCache> verified;
  absl::flat_hash_map<BlockKey, uint64_t, KeyHash> map;
  std::unique_ptr<Medium> flat;  // memory of the cache's kind and size, for memcpy

  Fixture() {
    map.reserve(blocks);
    for (uint64_t i = 0; i < blocks; ++i) map[key_of(i)] = i;
    const uint64_t size_bytes = blocks * kBlockBytes;
    flat = open_medium("dram", {.size_bytes = size_bytes, .max_size_bytes = size_bytes},
                       system_clock())
               .value();
    const std::vector<std::byte> block(kBlockBytes, std::byte{1});
    for (uint64_t i = 0; i < blocks; ++i) {
      if (!flat->write(i * kBlockBytes, block).ok()) std::abort();
    }
  }

  std::unique_ptr<BlockCache> filled(const char* verify, const char* eviction) const {
    const uint64_t size_bytes = (blocks + blocks / 50 + 1024) * kBlockBytes;
    StatusOr<std::unique_ptr<BlockCache>> opened =
        open_block_cache("nvcache://?admission=always&verify=" + std::string(verify) +
                         "&eviction=" + eviction + "&size=" + std::to_string(size_bytes));
    if (!opened.ok()) std::abort();
    std::vector<std::byte> block(kBlockBytes, std::byte{7});
    for (uint64_t i = 0; i < blocks; ++i) {
      std::memcpy(block.data(), &i, sizeof i);
      if (!(*opened)->put(key_of(i), block, Origin::kRead).admitted()) std::abort();
    }
    return *std::move(opened);
  }
};

Fixture& fixture() {
  static Fixture* shared = new Fixture;
  return *shared;
}

void BM_FlatHashMapLookup(benchmark::State& state) {
  Fixture& f = fixture();
  Prng random(static_cast<uint64_t>(state.thread_index()) + 1);
  uint64_t found = 0;
  for (auto _ : state) found += f.map.find(key_of(random.below(f.blocks)))->second;
  benchmark::DoNotOptimize(found);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FlatHashMapLookup)->Threads(1)->Threads(2)->UseRealTime();

void BM_Hit(benchmark::State& state) {
  Fixture& f = fixture();
  Prng random(static_cast<uint64_t>(state.thread_index()) + 1);
  uint64_t hits = 0;
  for (auto _ : state) hits += f.cache->lookup(key_of(random.below(f.blocks))).hit() ? 1 : 0;
  if (hits != static_cast<uint64_t>(state.iterations())) state.SkipWithError("a block was missing");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Hit)->Threads(1)->Threads(2)->UseRealTime();

void BM_Miss(benchmark::State& state) {
  Fixture& f = fixture();
  Prng random(static_cast<uint64_t>(state.thread_index()) + 1);
  uint64_t hits = 0;
  for (auto _ : state) {
    hits += f.cache->lookup(key_of(f.blocks + random.below(f.blocks))).hit() ? 1 : 0;
  }
  if (hits != 0) state.SkipWithError("a block was there");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Miss)->Threads(1)->Threads(2)->UseRealTime();

void BM_Memcpy4K(benchmark::State& state) {
  Fixture& f = fixture();
  Prng random(static_cast<uint64_t>(state.thread_index()) + 1);
  std::vector<std::byte> to(kBlockBytes);
  for (auto _ : state) {
    std::memcpy(to.data(), f.flat->direct().data() + random.below(f.blocks) * kBlockBytes,
                kBlockBytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kBlockBytes));
}
BENCHMARK(BM_Memcpy4K);

// Any cache with an index pays this: the copy waits for the lookup, which yields its address.
// BM_Memcpy4K's copy waits for nothing.
void BM_FlatHashMapLookupAndMemcpy4K(benchmark::State& state) {
  Fixture& f = fixture();
  Prng random(static_cast<uint64_t>(state.thread_index()) + 1);
  std::vector<std::byte> to(kBlockBytes);
  for (auto _ : state) {
    const uint64_t at = f.map.find(key_of(random.below(f.blocks)))->second;
    std::memcpy(to.data(), f.flat->direct().data() + at * kBlockBytes, kBlockBytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kBlockBytes));
}
BENCHMARK(BM_FlatHashMapLookupAndMemcpy4K);

void copy_hits(benchmark::State& state, BlockCache& cache) {
  Prng random(static_cast<uint64_t>(state.thread_index()) + 1);
  std::vector<std::byte> to(kBlockBytes);
  for (auto _ : state) {
    const Lookup lookup = cache.lookup(key_of(random.below(fixture().blocks)));
    std::memcpy(to.data(), lookup.pin.bytes().data(), kBlockBytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kBlockBytes));
}

void BM_HitWithCopy(benchmark::State& state) { copy_hits(state, *fixture().cache); }
BENCHMARK(BM_HitWithCopy);

void BM_HitWithCopyVerified(benchmark::State& state) {
  Fixture& f = fixture();
  if (f.verified == nullptr) f.verified = f.filled("always", "clock");
  copy_hits(state, *f.verified);
}
BENCHMARK(BM_HitWithCopyVerified);

void BM_PutEvicting(benchmark::State& state) {
  static BlockCache* small =
      open_block_cache("nvcache://?size=64MiB&admission=always&eviction=clock").value().release();
  Prng random(5);
  const std::vector<std::byte> block(kBlockBytes, std::byte{3});
  for (auto _ : state) small->put({random(), 0}, block, Origin::kRead);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kBlockBytes));
}
BENCHMARK(BM_PutEvicting);

}  // namespace
}  // namespace nvcache

BENCHMARK_MAIN();
