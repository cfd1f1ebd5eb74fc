#include "adapters/rocksdb/tiered_open.h"

#include <utility>

#include "adapters/rocksdb/open.h"
#include "adapters/rocksdb/program_settings.h"
#include "adapters/rocksdb/stats_file.h"
#include "adapters/rocksdb/tiered_codec.h"
#include "adapters/rocksdb/versions.h"
#include "nvcache/rocksdb.h"
#include "nvcache/status_or.h"
#include "tiered_cache/tiered_cache_impl.h"
#if NVCACHE_ROCKSDB_7
#include "adapters/rocksdb/tiered_cache_7.h"
#else
#include "adapters/rocksdb/tiered_cache_8.h"
#endif

namespace nvcache::rocksdb {

::rocksdb::Status open_tiered(const TieredConfig& config,
                              std::shared_ptr<::rocksdb::MemoryAllocator> allocator,
                              std::shared_ptr<::rocksdb::Cache>* cache,
                              std::shared_ptr<TieredCache>* opened) {
  StatusOr<std::unique_ptr<TieredCacheImpl>> made =
      TieredCacheImpl::make(config, make_codec(allocator));
  if (!made.ok()) return to_rocksdb(made.status());
  std::shared_ptr<TieredCache> shared = *std::move(made);
  if (opened != nullptr) *opened = shared;
  *cache = std::make_shared<TieredBlockCache>(std::move(shared), std::move(allocator));
  return ::rocksdb::Status::OK();
}

::rocksdb::Status open_tiered(const std::string& spec, const std::string& stats_file,
                              std::unique_ptr<::rocksdb::Cache>* cache) {
  const StatusOr<TieredConfig> config = tiered_config_of(spec);
  if (!config.ok()) return to_rocksdb(config.status());
  StatusOr<std::unique_ptr<TieredCacheImpl>> made =
      TieredCacheImpl::make(*config, make_codec(/*allocator=*/nullptr));
  if (!made.ok()) return to_rocksdb(made.status());
  const std::shared_ptr<TieredCache> shared(made->release(), [stats_file](TieredCache* closed) {
    if (!stats_file.empty()) append_stats(*closed, stats_file);
    delete closed;
  });
  *cache = std::make_unique<TieredBlockCache>(shared, /*allocator=*/nullptr);
  return ::rocksdb::Status::OK();
}

::rocksdb::Status NewTieredCache(const TieredCacheOptions& options,
                                 std::shared_ptr<::rocksdb::Cache>* cache,
                                 std::shared_ptr<TieredCache>* opened) {
  const StatusOr<TieredConfig> config = tiered_config_of(options.spec);
  if (!config.ok()) return to_rocksdb(config.status());
  return open_tiered(*config, /*allocator=*/nullptr, cache, opened);
}

}  // namespace nvcache::rocksdb
