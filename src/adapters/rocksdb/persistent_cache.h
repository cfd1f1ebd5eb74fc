// A rocksdb::PersistentCache over a BlockCache: holds blocks as they lie on disk
// (compressed, trailer included) and serves them on read misses. What it holds
// is lost at exit: the name is RocksDB's.
//
// Thread-safe. No exception leaves it, and no failure of the medium does. RocksDB
// verifies a block's own checksum when it parses what came from here, but answers
// Corruption then: so a damaged block must be found, and missed, in the BlockCache.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "nvcache/block_cache.h"
#include "rocksdb/persistent_cache.h"

namespace nvcache::rocksdb {

class PersistentCache final : public ::rocksdb::PersistentCache {
 public:
  explicit PersistentCache(std::shared_ptr<BlockCache> cache);

  // TryAgain if the block was not admitted; NotSupported for a key that is not 16 bytes.
  ::rocksdb::Status Insert(const ::rocksdb::Slice& key, const char* data, size_t size) override;

  // NotFound on a miss. `data` is a copy, from new char[].
  ::rocksdb::Status Lookup(const ::rocksdb::Slice& key, std::unique_ptr<char[]>* data,
                           size_t* size) override;

  bool IsCompressed() override { return true; }

  // One tier: the counters and gauges of nvcache::Stats under their own names.
  StatsType Stats() override;

  std::string GetPrintableOptions() const override;
  uint64_t NewId() override { return next_id_.fetch_add(1, std::memory_order_relaxed); }

 private:
  const std::shared_ptr<BlockCache> cache_;
  std::atomic<uint64_t> next_id_{1};
};

}  // namespace nvcache::rocksdb
