// Calls that should cost the same however much a cache holds: an insertion into a first tier that
// is full of held objects, its sums over all shards and regions, a hit that is read into a buffer,
// a miss after a restart.
//   nvcache_bench --benchmark_filter=growth/
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "benchmark/benchmark.h"
#include "nvcache/block_cache.h"
#include "nvcache/kv_store.h"
#include "nvcache/tiered_cache.h"

namespace nvcache {
namespace {

constexpr size_t kBlockBytes = 4096;

template <typename T>
T opened(StatusOr<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", std::string(result.status().message()).c_str());
    std::abort();
  }
  return *std::move(result);
}

// In memory, if TMPDIR is.
std::string temporary_file() {
  const std::string path = std::filesystem::temp_directory_path() / "nvcache_growth_bench";
  std::filesystem::remove(path);
  return path;
}

// ---- A first tier.

class NumberCodec final : public ObjectCodec {
 public:
  size_t saved_bytes(const Object&) override { return sizeof(uint64_t); }
  bool save(const Object&, MutableBytes) override { return false; }
  void destroy(std::string_view, const Object&) override {}
};

std::string key_of(uint64_t i) {
  std::string key(16, '\0');
  std::memcpy(key.data(), &i, sizeof i);
  return key;
}

std::unique_ptr<TieredCache> first_tier(const std::string& spec) {
  return opened(
      open_tiered_cache("tiered://?metadata=free&" + spec, std::make_shared<NumberCodec>()));
}

TieredCache::Handle* insert(TieredCache& cache, uint64_t i, size_t charge_bytes) {
  static uint64_t value = 0;
  TieredCache::Handle* handle = nullptr;
  const Object object{
      .value = &value, .kind = {.word = 1, .movable = false}, .charge_bytes = charge_bytes};
  return cache.insert(key_of(i), object, Priority::kLow, &handle).ok() ? handle : nullptr;
}

// All but one object are held: each insertion evicts that one.
void bench_insert_beside_held(benchmark::State& state) {
  const auto objects = static_cast<uint64_t>(state.range(0));
  const auto cache = first_tier("shards=1&strict=on&high_priority=0&dram=" +
                                std::to_string((objects + 1) * kBlockBytes));
  std::vector<TieredCache::Handle*> held;
  for (uint64_t i = 0; i < objects; ++i) held.push_back(insert(*cache, i, kBlockBytes));
  uint64_t next = objects;
  for (auto _ : state) {
    TieredCache::Handle* const handle = insert(*cache, next++, kBlockBytes);
    if (handle == nullptr) state.SkipWithError("refused");
    cache->release(handle);
  }
  for (TieredCache::Handle* const each : held) cache->release(each);
}
BENCHMARK(bench_insert_beside_held)->Name("growth/insert_beside_held")->Arg(1000)->Arg(100'000);

// Large objects are held, and take more than the capacity.
void bench_insert_beside_large(benchmark::State& state) {
  const auto shards = static_cast<uint64_t>(state.range(0));
  constexpr uint64_t kCapacityBytes = 64 << 20;
  const auto cache =
      first_tier("shards=" + std::to_string(shards) + "&dram=" + std::to_string(kCapacityBytes));
  std::vector<TieredCache::Handle*> held;
  for (uint64_t i = 0; i < 20; ++i) held.push_back(insert(*cache, i, kCapacityBytes / 16));
  uint64_t next = held.size();
  for (auto _ : state) {
    TieredCache::Handle* const handle = insert(*cache, next++, kBlockBytes);
    if (handle != nullptr) cache->release(handle);
  }
  for (TieredCache::Handle* const each : held) {
    if (each != nullptr) cache->release(each);
  }
}
BENCHMARK(bench_insert_beside_large)->Name("growth/insert_beside_large")->Arg(1)->Arg(64);

void bench_use(benchmark::State& state) {
  const auto cache = first_tier("dram=64MiB&shards=" + std::to_string(state.range(0)));
  for (uint64_t i = 0; i < 1000; ++i) {
    if (auto* const handle = insert(*cache, i, kBlockBytes)) cache->release(handle);
  }
  for (auto _ : state) benchmark::DoNotOptimize(cache->control()->use().used_bytes);
}
BENCHMARK(bench_use)->Name("growth/use")->Arg(1)->Arg(64);

// ---- Regions.

// A hit that is read from the medium: into a buffer of the cache's, or of the caller's.
void bench_region_hit(benchmark::State& state) {
  constexpr uint64_t kBlocks = 4096;
  const std::string path = temporary_file();
  const auto cache = opened(open_block_cache(
      "nvcache://?size=64MiB&space=regions&admission=always&verify=auto&medium=file:" + path +
      ",io=direct"));
  const std::vector<std::byte> block(kBlockBytes);
  for (uint64_t i = 0; i < kBlocks; ++i) (void)cache->put({1, i}, block, Origin::kRead);
  std::vector<std::byte> into(kBlockBytes);
  Prng random(1);
  uint64_t hits = 0;
  for (auto _ : state) {
    const BlockKey key{1, random.below(kBlocks)};
    hits += state.range(0) != 0 ? cache->lookup(key, {.copy_into = into}).hit()
                                : cache->lookup(key).hit();
  }
  state.counters["hit_ratio"] = static_cast<double>(hits) / static_cast<double>(state.iterations());
}
BENCHMARK(bench_region_hit)->Name("growth/region_hit/copy_into")->Arg(0)->Arg(1);

// Sums the contents of all regions, as an adaptive placement does at each hit.
void bench_region_stats(benchmark::State& state) {
  const auto regions = static_cast<uint64_t>(state.range(0));
  const auto cache =
      opened(open_block_cache("nvcache://?admission=always&eviction=fifo&shards=1&space=regions&"
                              "region=64KiB&medium=dram&size=" +
                              std::to_string(regions << 16)));
  for (auto _ : state) benchmark::DoNotOptimize(cache->stats().used_bytes);
}
BENCHMARK(bench_region_stats)->Name("growth/region_stats")->Arg(1024)->Arg(65'536);

// ---- A key-value store.

// Misses, in a store that was just filled, and after it was opened again.
void bench_kv_miss(benchmark::State& state) {
  constexpr uint64_t kItems = 200'000;
  const std::string path = temporary_file();
  const std::string spec = "nvkv://?size=128MiB&item=256&medium=file:" + path;
  auto store = opened(open_kv_store(spec));
  const std::vector<std::byte> value(100);
  for (uint64_t i = 0; i < kItems; ++i) (void)store->put("key" + std::to_string(i), value, {});
  if (state.range(0) != 0) {
    store.reset();
    store = opened(open_kv_store(spec));
  }
  Prng random(1);
  uint64_t hits = 0;
  for (auto _ : state) hits += static_cast<bool>(store->get("absent" + std::to_string(random())));
  if (hits != 0) state.SkipWithError("a hit");
  store.reset();
  std::filesystem::remove(path);
}
BENCHMARK(bench_kv_miss)->Name("growth/kv_miss/opened_again")->Arg(0)->Arg(1);

}  // namespace
}  // namespace nvcache
