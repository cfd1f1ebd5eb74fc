// Gives programs that were not built for nvcache a TieredCache as their block cache. Loaded
// by LD_PRELOAD, this library replaces rocksdb::NewLRUCache and
// rocksdb::HyperClockCacheOptions::MakeSharedCache.
//
//   NVCACHE_TIERED      a specification. Settings that it does not have come from the program's
//                       own options: dram, strict, shards, high_priority, low_priority and
//                       metadata. Not set: the program gets RocksDB's own cache
//   NVCACHE_STATS_JSON  a file. Each cache that was used appends its statistics to it,
//                       as a JSON object, when it closes
//
// A separate library, so that linking the adapters does not change a program's cache.
// A wrong specification ends the program with a message: it would otherwise measure
// something else than it was told to.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "adapters/rocksdb/program_options.h"
#include "adapters/rocksdb/program_settings.h"
#include "adapters/rocksdb/stats_file.h"
#include "adapters/rocksdb/tiered_open.h"
#include "adapters/rocksdb/versions.h"
#include "fmt/format.h"
#include "rocksdb/cache.h"

namespace nvcache::rocksdb {
namespace {

using ::rocksdb::Cache;
using ::rocksdb::ShardedCacheOptions;

constexpr const char* kSpecVariable = "NVCACHE_TIERED";

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "nvcache: %s\n", message.c_str());
  std::fflush(nullptr);
  std::_Exit(EXIT_FAILURE);
}

// Null if the program gets RocksDB's own cache.
std::shared_ptr<Cache> make_in_place_of(const ShardedCacheOptions& options,
                                        const ProgramCache& program) {
  const char* const spec = std::getenv(kSpecVariable);
  if (spec == nullptr || *spec == '\0' || !can_replace(program)) return nullptr;
  std::shared_ptr<Cache> cache;
  std::shared_ptr<TieredCache> opened;
  const StatusOr<TieredConfig> config = tiered_config_of(spec, program);
  if (!config.ok()) stop(fmt::format("{}: {}", kSpecVariable, config.status().message()));
  const ::rocksdb::Status status = open_tiered(*config, options.memory_allocator, &cache, &opened);
  if (!status.ok()) stop(fmt::format("{}: {}", kSpecVariable, status.ToString()));
  std::string path = stats_file();
  if (path.empty()) return cache;
  Cache* const raw = cache.get();
  return {raw, [cache = std::move(cache), opened = std::move(opened),
                path = std::move(path)](Cache*) { append_stats(*opened, path); }};
}

template <typename Options>
std::shared_ptr<Cache> make_in_place_of(const Options& options) {
  return make_in_place_of(options, program_of(options));
}

// RocksDB's own function of a mangled name.
template <typename Function>
Function next(const char* symbol) {
  void* const found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) stop(fmt::format("no {} in this process: is RocksDB in it?", symbol));
  return reinterpret_cast<Function>(found);
}

}  // namespace
}  // namespace nvcache::rocksdb

namespace rocksdb {

#if NVCACHE_ROCKSDB_7

std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& options) {
  if (options.secondary_cache == nullptr) {
    if (auto cache = nvcache::rocksdb::make_in_place_of(options)) return cache;
  }
  using Function = std::shared_ptr<Cache> (*)(const LRUCacheOptions&);
  static const auto original =
      nvcache::rocksdb::next<Function>("_ZN7rocksdb11NewLRUCacheERKNS_15LRUCacheOptionsE");
  return original(options);
}

std::shared_ptr<Cache> NewLRUCache(size_t capacity, int num_shard_bits, bool strict_capacity_limit,
                                   double high_pri_pool_ratio,
                                   std::shared_ptr<MemoryAllocator> memory_allocator,
                                   bool use_adaptive_mutex,
                                   CacheMetadataChargePolicy metadata_charge_policy,
                                   double low_pri_pool_ratio) {
  return NewLRUCache(LRUCacheOptions(
      capacity, num_shard_bits, strict_capacity_limit, high_pri_pool_ratio,
      std::move(memory_allocator), use_adaptive_mutex, metadata_charge_policy, low_pri_pool_ratio));
}

#else

// NewLRUCache is inline here, and ends in this.
std::shared_ptr<Cache> LRUCacheOptions::MakeSharedCache() const {
  if (secondary_cache == nullptr) {
    if (auto cache = nvcache::rocksdb::make_in_place_of(*this)) return cache;
  }
  using Function = std::shared_ptr<Cache> (*)(const LRUCacheOptions*);
  static const auto original =
      nvcache::rocksdb::next<Function>("_ZNK7rocksdb15LRUCacheOptions15MakeSharedCacheEv");
  return original(this);
}

#endif

std::shared_ptr<Cache> HyperClockCacheOptions::MakeSharedCache() const {
#if !NVCACHE_ROCKSDB_7  // has no such member
  if (secondary_cache == nullptr)
#endif
  {
    if (auto cache = nvcache::rocksdb::make_in_place_of(*this)) return cache;
  }
  using Function = std::shared_ptr<Cache> (*)(const HyperClockCacheOptions*);
  static const auto original =
      nvcache::rocksdb::next<Function>("_ZNK7rocksdb22HyperClockCacheOptions15MakeSharedCacheEv");
  return original(this);
}

}  // namespace rocksdb
