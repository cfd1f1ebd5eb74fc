// Opens a TieredCache as a rocksdb::Cache, for NewTieredCache, for the preloaded library, and for
// RocksDB's options that name a cache by a string.
#pragma once

#include <memory>
#include <string>

#include "nvcache/tiered_cache.h"
#include "rocksdb/cache.h"
#include "rocksdb/memory_allocator.h"
#include "rocksdb/status.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache::rocksdb {

// Does what NewTieredCache does. `allocator`, which may be null, is where RocksDB puts its blocks.
::rocksdb::Status open_tiered(const TieredConfig& config,
                              std::shared_ptr<::rocksdb::MemoryAllocator> allocator,
                              std::shared_ptr<::rocksdb::Cache>* cache,
                              std::shared_ptr<TieredCache>* opened);

// For one owner. `stats_file`, if not empty, gets the statistics when the cache closes.
::rocksdb::Status open_tiered(const std::string& spec, const std::string& stats_file,
                              std::unique_ptr<::rocksdb::Cache>* cache);

}  // namespace nvcache::rocksdb
