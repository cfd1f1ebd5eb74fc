// A rocksdb::PersistentCache over a BlockCache: holds blocks as they are on disk
// (compressed, with their trailer) and serves them on read misses. Despite RocksDB's name
// for it, its contents are lost at exit unless the BlockCache comes back after a restart.
//
// Thread-safe. Throws nothing, and hides failures of the medium. RocksDB verifies the
// checksum of each block that it gets, but fails the read with Corruption if it is wrong. So
// the BlockCache must detect a damaged block first, and report a miss.
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
