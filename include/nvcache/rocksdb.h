// nvcache under an unpatched RocksDB (7.8 to 11.x).
//
// As a SecondaryCache: blocks that RocksDB's own block cache evicts are offered
// to nvcache, and looked up there before the disk is read.
//
//   std::shared_ptr<rocksdb::SecondaryCache> secondary;
//   rocksdb::Status s = nvcache::rocksdb::NewSecondaryCache(
//       {.spec = "nvcache://?size=1GiB&medium=file:/mnt/x"}, &secondary);
//   rocksdb::LRUCacheOptions lru;
//   lru.capacity = 64 << 20;
//   lru.secondary_cache = secondary;
//   table_options.block_cache = rocksdb::NewLRUCache(lru);
//
// As a PersistentCache: raw blocks as they lie on disk, on read misses only.
// docs/guide/rocksdb.md says what each plug point sees and what it cannot do.
#pragma once

#include <memory>
#include <string>

#include "nvcache/block_cache.h"
#include "nvcache/tiered_cache.h"
#include "rocksdb/status.h"

namespace rocksdb {
class Cache;
class EventListener;
class PersistentCache;
class SecondaryCache;
}  // namespace rocksdb

namespace nvcache::rocksdb {

struct CacheOptions {
  // A cache specification: nvcache://?size=...; used where `cache` is null.
  std::string spec = {};
  // A cache that is already open, shared with other users of it.
  std::shared_ptr<BlockCache> cache = nullptr;
  // SecondaryCache only: keep a block in DRAM or in the cache, not in both. Fits
  // somewhat more, but each block that comes back to DRAM is written again when it
  // leaves: for media that do not mind writes (DRAM, CXL memory).
  bool exclusive = false;
};

// Makes a SecondaryCache for LRUCacheOptions::secondary_cache. InvalidArgument
// says what is wrong with the specification. Thread-safe, as is what it makes.
// `opened`, if given, receives the block cache behind it, for statistics.
[[nodiscard]] ::rocksdb::Status NewSecondaryCache(
    const CacheOptions& options, std::shared_ptr<::rocksdb::SecondaryCache>* secondary,
    std::shared_ptr<BlockCache>* opened = nullptr);

// Makes a PersistentCache for BlockBasedTableOptions::persistent_cache.
[[nodiscard]] ::rocksdb::Status NewPersistentCache(
    const CacheOptions& options, std::shared_ptr<::rocksdb::PersistentCache>* persistent,
    std::shared_ptr<BlockCache>* opened = nullptr);

// A listener for Options::listeners that tells the cache how large the database
// is after each flush and compaction: what small_bypass asks.
std::shared_ptr<::rocksdb::EventListener> NewDatasetSizeListener(std::shared_ptr<BlockCache> cache);

struct TieredCacheOptions {
  // A specification of a tiered cache: tiered://?dram=64MiB&tier=(size=1GiB,medium=...)
  std::string spec = {};
};

// Makes a rocksdb::Cache of several tiers, for BlockBasedTableOptions::block_cache;
// several databases may share it. Its capacity, usage and strictness are those of the
// first tier. `opened`, if given, receives the cache behind it, for statistics.
[[nodiscard]] ::rocksdb::Status NewTieredCache(const TieredCacheOptions& options,
                                               std::shared_ptr<::rocksdb::Cache>* cache,
                                               std::shared_ptr<TieredCache>* opened = nullptr);

}  // namespace nvcache::rocksdb
