// A rocksdb::SecondaryCache over a BlockCache: holds the blocks that RocksDB's own
// block cache evicted, uncompressed, and serves them before the disk is read. Under RocksDB's own
// three-tier cache (NewTieredCache with nvm_sec_cache) it holds compressed blocks instead.
//
// Thread-safe. Throws nothing, and hides failures of the medium: a block is then not kept,
// or not found. A lookup is complete when it returns; but where the cache reads a device side by
// side, one that MultiGet makes (wait == false) and that will find its block is pending until
// WaitAll, which reads the blocks of all of them together, in the thread that waits.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "adapters/rocksdb/versions.h"
#include "nvcache/block_cache.h"
#include "rocksdb/secondary_cache.h"

namespace nvcache::rocksdb {

// Makes RocksDB's object of the bytes of a block.
#if NVCACHE_ROCKSDB_7
using BlockCreator = ::rocksdb::Cache::CreateCallback;
#else
struct BlockCreator {
  const ::rocksdb::Cache::CacheItemHelper* helper = nullptr;
  ::rocksdb::Cache::CreateContext* context = nullptr;  // of the caller, until it has waited
};
#endif

class SecondaryCache final : public ::rocksdb::SecondaryCache {
 public:
  using ResultHandle = std::unique_ptr<::rocksdb::SecondaryCacheResultHandle>;

  // `exclusive`: as CacheOptions::exclusive.
  SecondaryCache(std::shared_ptr<BlockCache> cache, bool exclusive);

  const char* Name() const override { return "nvcache"; }
  std::string GetPrintableOptions() const override;

  // Offers the value for admission; OK whether or not it was admitted.
  // NotSupported for a key that is not 16 bytes, or a value that cannot be saved.
#if NVCACHE_ROCKSDB_7
  ::rocksdb::Status Insert(const ::rocksdb::Slice& key, void* value,
                           const ::rocksdb::Cache::CacheItemHelper* helper) override;
  ResultHandle Lookup(const ::rocksdb::Slice& key,
                      const ::rocksdb::Cache::CreateCallback& create_cb, bool wait,
                      bool advise_erase, bool& is_in_sec_cache) override;
#else
  ::rocksdb::Status Insert(const ::rocksdb::Slice& key, ::rocksdb::Cache::ObjectPtr value,
                           const ::rocksdb::Cache::CacheItemHelper* helper,
                           bool force_insert) override;
  // Offers the bytes as they are. RocksDB's three-tier cache hands over what it read, compressed:
  // that stays so, is counted, and RocksDB decompresses it after each lookup.
  ::rocksdb::Status InsertSaved(const ::rocksdb::Slice& key, const ::rocksdb::Slice& saved,
                                ::rocksdb::CompressionType type,
                                ::rocksdb::CacheTier source) override;
  ResultHandle Lookup(const ::rocksdb::Slice& key, const ::rocksdb::Cache::CacheItemHelper* helper,
                      ::rocksdb::Cache::CreateContext* create_context, bool wait, bool advise_erase,
                      ::rocksdb::Statistics* stats, bool& kept_in_sec_cache) override;
#endif

  bool SupportForceErase() const override { return exclusive_; }
  void Erase(const ::rocksdb::Slice& key) override;
  // REQUIRES: each handle is one that this cache's Lookup returned.
  void WaitAll(std::vector<::rocksdb::SecondaryCacheResultHandle*> handles) override;

  // Resizes the cache, also for others that share it. With 0, which is "off" to RocksDB, it gives
  // up all its blocks, and this adapter asks it nothing until another capacity is set.
  ::rocksdb::Status SetCapacity(size_t capacity) override;
  ::rocksdb::Status GetCapacity(size_t& capacity) override;

 private:
  ::rocksdb::Status offer(const ::rocksdb::Slice& key, void* value,
                          const ::rocksdb::Cache::CacheItemHelper* helper);

  // save(char* into) writes the block's bytes.
  template <typename Save>
  ::rocksdb::Status keep(const BlockKey& key, size_t size, ::rocksdb::CompressionType type,
                         Save save);

  struct Found;  // a lookup's result

  ResultHandle find(const ::rocksdb::Slice& key, const BlockCreator& create, bool wait,
                    bool advise_erase, bool& kept);
  void serve(Found& found, nvcache::Lookup lookup);

  const std::shared_ptr<BlockCache> cache_;
  const bool exclusive_;
  const bool batches_;  // lookups that MultiGet makes wait for each other
  std::atomic<bool> off_{false};
};

}  // namespace nvcache::rocksdb
