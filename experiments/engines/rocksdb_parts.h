// The parts that the engine and the loader of RocksDB share.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "experiments/engines/emulated_storage.h"
#include "experiments/engines/rocksdb_engine.h"
#include "nvcache/tiered_cache.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"

namespace nvcache {

inline ::rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// Its message says what was done.
nvcache::Status to_status(const char* what, const ::rocksdb::Status& status);

// Without a cache: blocks are cached nowhere.
::rocksdb::Options rocksdb_options(const RocksdbShape& shape,
                                   std::shared_ptr<::rocksdb::Cache> cache, bool index_in_cache);

// FAILED_PRECONDITION where the file system has no direct I/O.
[[nodiscard]] nvcache::Status open_rocksdb(const ::rocksdb::Options& options,
                                           const std::string& directory,
                                           std::unique_ptr<::rocksdb::DB>* db);

// Writes SST files of database `database` in the order of its keys, several threads at once, and
// hands them over.
[[nodiscard]] nvcache::Status load_rocksdb(const RocksdbShape& shape, const std::string& directory,
                                           uint32_t database, uint64_t count,
                                           const SortedPair& pair, uint32_t threads,
                                           const std::function<void(uint64_t)>& progress);

struct RocksdbCache {
  std::shared_ptr<::rocksdb::Cache> cache;
  std::shared_ptr<TieredCache> tiered;  // null for a stock LRUCache
};

// A whole block cache: lru:size=SIZE[,shards=N], or tiered://... INVALID_ARGUMENT says what is
// wrong with it.
[[nodiscard]] StatusOr<RocksdbCache> open_rocksdb_cache(const std::string& spec);

// EngineOptions::storage that is not empty. INVALID_ARGUMENT names what is allowed.
[[nodiscard]] StatusOr<std::shared_ptr<rocksdb::EmulatedStorage>> open_rocksdb_storage(
    const std::string& name);

}  // namespace nvcache
