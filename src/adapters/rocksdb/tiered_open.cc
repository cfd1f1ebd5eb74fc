// Opening a tiered cache as a rocksdb::Cache, and what it says of itself.
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tiered_cache/tiered_cache_impl.h"
#include "tiered_cache/tiered_config.h"
#include "adapters/rocksdb/open.h"
#include "adapters/rocksdb/tiered_cache.h"
#include "nvcache/rocksdb.h"

namespace nvcache::rocksdb {

::rocksdb::Status open_tiered(const std::string& spec,
                              std::shared_ptr<::rocksdb::MemoryAllocator> allocator,
                              std::shared_ptr<::rocksdb::Cache>* cache,
                              std::shared_ptr<TieredCacheImpl>* opened) {
  const absl::StatusOr<TieredConfig> config = parse_tiered_config(spec);
  if (!config.ok()) return to_rocksdb(config.status());
  auto made = TieredCacheImpl::make(*config, make_codec(allocator));
  if (!made.ok()) return to_rocksdb(made.status());
  std::shared_ptr<TieredCacheImpl> shared = *std::move(made);
  if (opened != nullptr) *opened = shared;
  *cache = std::make_shared<TieredBlockCache>(std::move(shared), std::move(allocator));
  return ::rocksdb::Status::OK();
}

::rocksdb::Status NewTieredCache(const TieredCacheOptions& options,
                                 std::shared_ptr<::rocksdb::Cache>* cache,
                                 std::shared_ptr<TieredCache>* opened) {
  std::shared_ptr<TieredCacheImpl> impl;
  ::rocksdb::Status status = open_tiered(options.spec, /*allocator=*/nullptr, cache, &impl);
  if (status.ok() && opened != nullptr) *opened = std::move(impl);
  return status;
}

void append_stats(TieredCacheImpl& cache, const std::string& path) {
  cache.drain();
  const TieredStats stats = cache.stats();
  // db_bench makes dozens of caches that it never uses.
  if (stats.lookups > 0) std::ofstream(path, std::ios::app) << stats.to_json() << '\n';
}

std::string TieredBlockCache::GetPrintableOptions() const {
  const TieredStats stats = cache_->stats();
  std::string text = absl::StrCat("    nvcache.policy: ", stats.policy, "\n");
  for (size_t i = 0; i < stats.tiers.size(); ++i) {
    absl::StrAppend(&text, "    nvcache.tier", i, ": ", stats.tiers[i].medium, ", ",
                    stats.tiers[i].size_bytes, " bytes\n");
  }
  return text;
}

}  // namespace nvcache::rocksdb
