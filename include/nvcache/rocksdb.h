// nvcache under an unpatched RocksDB: 7.8, and 8.10 to 11.x. The adapters do not compile against
// 7.9 to 8.9. docs/guide/rocksdb.md says which versions were tried.
//
// As a SecondaryCache: RocksDB's own block cache offers the blocks that it evicts to
// nvcache, and looks there before it reads the disk.
//
//   std::shared_ptr<rocksdb::SecondaryCache> secondary;
//   rocksdb::Status s = nvcache::rocksdb::NewSecondaryCache(
//       {.spec = "nvcache://?size=1GiB&medium=file:/mnt/x"}, &secondary);
//   rocksdb::LRUCacheOptions lru;
//   lru.capacity = 64 << 20;
//   lru.secondary_cache = secondary;
//   table_options.block_cache = rocksdb::NewLRUCache(lru);
//
// As a PersistentCache: holds blocks as they are on disk, and sees only reads that missed
// RocksDB's block cache. As the whole block cache: NewTieredCache, at the end of this file.
// docs/guide/rocksdb.md says what each plug point sees and what it cannot do.
//
// All functions are thread-safe, as is what they make. Errors are RocksDB statuses;
// InvalidArgument says what is wrong with a specification.
#pragma once

#include <memory>
#include <string>

#include "nvcache/block_cache.h"
#include "nvcache/tiered_cache.h"
#include "rocksdb/status.h"

namespace rocksdb {
class Cache;
class ColumnFamilyHandle;
class DB;
class EventListener;
class PersistentCache;
class SecondaryCache;
}  // namespace rocksdb

namespace nvcache::rocksdb {

struct CacheOptions {
  // A cache specification: nvcache://?size=... Ignored if `cache` is set. In regions on
  // file:PATH,io=direct or nvme:DEVICE, the default there from 64 MiB on, restart=warm and
  // keys=immutable are the defaults: blocks survive a restart and a crash, for RocksDB's keys never
  // name other bytes. restart=cold turns it off. docs/guide/rocksdb.md, "After a
  // restart", has the limits, and two cases in which keys do repeat.
  std::string spec = {};
  // A cache that is already open, to share it.
  std::shared_ptr<BlockCache> cache = nullptr;
  // SecondaryCache only: keep a block either in DRAM or in the cache, not in both. The two
  // together then hold more blocks. But a block that comes back to DRAM is written again
  // when DRAM evicts it, so use this for media that take writes well (DRAM, CXL memory).
  bool exclusive = false;
};

// Makes a SecondaryCache for LRUCacheOptions::secondary_cache.
// `opened`, if given, receives the block cache behind it, for statistics.
[[nodiscard]] ::rocksdb::Status NewSecondaryCache(
    const CacheOptions& options, std::shared_ptr<::rocksdb::SecondaryCache>* secondary,
    std::shared_ptr<BlockCache>* opened = nullptr);

// Makes a PersistentCache for BlockBasedTableOptions::persistent_cache.
[[nodiscard]] ::rocksdb::Status NewPersistentCache(
    const CacheOptions& options, std::shared_ptr<::rocksdb::PersistentCache>* persistent,
    std::shared_ptr<BlockCache>* opened = nullptr);

// Makes a listener for Options::listeners. It tells the cache the size of the database
// after each flush and compaction; the admission policy small_bypass needs it.
std::shared_ptr<::rocksdb::EventListener> NewDatasetSizeListener(std::shared_ptr<BlockCache> cache);

// Makes a listener for Options::listeners. The blocks of table files that are deleted while the
// database is open leave the cache soon after (BlockCache::erase() with Gone::kMayReturn), in a
// thread of the listener, with a tenth of a core at most. Files that were there before the opening
// are known once they are compacted, or by NoteTableFiles(); blocks of others leave by eviction.
// One listener may serve several databases. It does not keep the cache open.
std::shared_ptr<::rocksdb::EventListener> NewDeletedFilesListener(
    const std::shared_ptr<BlockCache>& cache);
std::shared_ptr<::rocksdb::EventListener> NewDeletedFilesListener(
    const std::shared_ptr<TieredCache>& cache);

// Tells such a listener the table files that a database has now: call it after the opening, for
// each column family, if files also go without a compaction (DeleteFilesInRange, DropColumnFamily).
// Reads the properties of each file. InvalidArgument for any other listener; RocksDB's own errors.
[[nodiscard]] ::rocksdb::Status NoteTableFiles(::rocksdb::EventListener& listener,
                                               ::rocksdb::DB& db,
                                               ::rocksdb::ColumnFamilyHandle* family);

struct TieredCacheOptions {
  // A specification of a tiered cache: tiered://?dram=64MiB&tier=(size=1GiB,medium=...)
  std::string spec = {};
};

// Makes a rocksdb::Cache of several tiers, for BlockBasedTableOptions::block_cache.
// Several databases may share it. Its capacity, usage and strictness are those of the
// first tier. `opened`, if given, receives the cache behind it, for statistics.
// From RocksDB 9.7 on its options also take the specification as a string:
// block_cache={id=tiered://?...}, in every program that links or loads this library.
[[nodiscard]] ::rocksdb::Status NewTieredCache(const TieredCacheOptions& options,
                                               std::shared_ptr<::rocksdb::Cache>* cache,
                                               std::shared_ptr<TieredCache>* opened = nullptr);

}  // namespace nvcache::rocksdb
