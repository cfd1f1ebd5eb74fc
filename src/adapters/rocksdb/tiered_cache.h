// The part of a rocksdb::Cache over a TieredCache that is alike for all versions of RocksDB. The
// first tier holds RocksDB's own objects, the lower tiers hold their saved bytes.
// TieredBlockCache adds what a version asks for: tiered_cache_7.h, tiered_cache_8.h.
//
// Thread-safe. RocksDB's callbacks (deleters, size, save, create) are called with no
// lock held, so a deleter may call the cache. No failure of a medium reaches RocksDB: the
// cache drops the block, or does not find it. Every lookup is complete when it returns,
// those of MultiGet (wait == false) too, so WaitAll has nothing to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "adapters/rocksdb/versions.h"
#include "nvcache/function_ref.h"
#include "nvcache/tiered_cache.h"
#include "rocksdb/cache.h"
#include "rocksdb/memory_allocator.h"

namespace nvcache::rocksdb {

class TieredBlockCacheBase : public ::rocksdb::Cache {
 public:
  using Slice = ::rocksdb::Slice;
  using Status = ::rocksdb::Status;

  // `cache` must have a codec of make_codec() with the same allocator.
  TieredBlockCacheBase(std::shared_ptr<TieredCache> cache,
                       std::shared_ptr<::rocksdb::MemoryAllocator> allocator);

  const char* Name() const final { return "nvcache"; }
  std::string GetPrintableOptions() const final;

  bool Ref(Handle* handle) final;
  bool Release(Handle* handle, bool erase_if_last_ref) final;
  bool Release(Handle* handle, bool useful, bool erase_if_last_ref) final;
  void* Value(Handle* handle) final;
  void Erase(const Slice& key) final;
  uint64_t NewId() final { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  // Sets the capacity of the first tier.
  void SetCapacity(size_t capacity) final;
  void SetStrictCapacityLimit(bool strict) final;
  bool HasStrictCapacityLimit() const final;
  size_t GetCapacity() const final;
  size_t GetUsage() const final;
  size_t GetPinnedUsage() const final;
  size_t GetOccupancyCount() const final;
  size_t GetTableAddressCount() const final;
  size_t GetUsage(Handle* handle) const final;
  size_t GetCharge(Handle* handle) const final;
  void EraseUnRefEntries() final;

 protected:
  static TieredCache::Handle* inner(Handle* handle) {
    return reinterpret_cast<TieredCache::Handle*>(handle);
  }
  static Handle* outer(TieredCache::Handle* handle) { return reinterpret_cast<Handle*>(handle); }
  static nvcache::Priority to_nvcache(Priority priority);

  // MemoryLimit if a handle is asked for and a strict cache is full of pinned blocks: RocksDB
  // then still owns the value. Without a handle, the cache takes the value and may
  // destroy it at once.
  Status insert(const Slice& key, Object object, nvcache::Priority priority, Handle** handle);

  // Makes RocksDB's object from a saved block.
  using Create = FunctionRef<Status(const Slice& block, void** value, size_t* charge)>;
  // *made: whether the object was made for this lookup, from a block of a lower tier.
  Handle* find(const Slice& key, const CacheItemHelper* helper, bool* made, Create create);
  // Searches the first tier alone.
  Handle* find(const Slice& key);

  // Counts a hit of a lower tier for RocksDB's statistics.
  static void count_lower_hit(::rocksdb::Statistics* stats);

  TieredCache& cache() const { return *cache_; }
  TieredCacheControl& control() const { return control_; }

 private:
  const std::shared_ptr<TieredCache> cache_;
  TieredCacheControl& control_;
  std::atomic<uint64_t> next_id_{1};
};

}  // namespace nvcache::rocksdb
