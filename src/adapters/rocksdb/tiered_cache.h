// A rocksdb::Cache over a TieredCacheImpl: RocksDB's whole block cache, whose first
// tier holds RocksDB's own objects and whose lower tiers hold their saved bytes.
//
// Thread-safe. RocksDB's callbacks (deleters, size, save, create) are called with no
// lock held, so that a deleter may call the cache. No failure of a medium leaves it: a
// block is then dropped, or not found. Lookups are answered at once, those of MultiGet
// (wait == false) too, so that WaitAll has nothing to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tiered_cache/tiered_cache_impl.h"
#include "nvcache/tiered_cache.h"
#include "rocksdb/cache.h"
#include "rocksdb/memory_allocator.h"
#include "rocksdb/version.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace nvcache::rocksdb {

class TieredBlockCache final : public ::rocksdb::Cache {
 public:
  using Slice = ::rocksdb::Slice;
  using Status = ::rocksdb::Status;

  // `cache` must have a codec of make_codec() with the same allocator.
  TieredBlockCache(std::shared_ptr<TieredCacheImpl> cache,
                   std::shared_ptr<::rocksdb::MemoryAllocator> allocator);

  const char* Name() const override { return "nvcache"; }
  std::string GetPrintableOptions() const override;

  // MemoryLimit if a handle is asked for, the cache is strict, and all of it is in use:
  // the value stays the caller's. What has no handle is taken, and may be gone at once.
#if ROCKSDB_MAJOR < 8
  Status Insert(const Slice& key, void* value, size_t charge, DeleterFn deleter, Handle** handle,
                Priority priority) override;
  Status Insert(const Slice& key, void* value, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority) override;
  // Searches the first tier only.
  Handle* Lookup(const Slice& key, ::rocksdb::Statistics* stats) override;
  Handle* Lookup(const Slice& key, const CacheItemHelper* helper, const CreateCallback& create_cb,
                 Priority priority, bool wait, ::rocksdb::Statistics* stats) override;
  DeleterFn GetDeleter(Handle* handle) const override;
  void ApplyToAllEntries(const std::function<void(const Slice& key, void* value, size_t charge,
                                                  DeleterFn deleter)>& callback,
                         const ApplyToAllEntriesOptions& opts) override;
#else
  // The compressed form of a block is not kept.
  Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority, const Slice& compressed,
                ::rocksdb::CompressionType type) override;
  Handle* CreateStandalone(const Slice& key, ObjectPtr value, const CacheItemHelper* helper,
                           size_t charge, bool allow_uncharged) override;
  // Searches the first tier only if `helper` cannot make objects.
  Handle* Lookup(const Slice& key, const CacheItemHelper* helper, CreateContext* create_context,
                 Priority priority, ::rocksdb::Statistics* stats) override;
  const CacheItemHelper* GetCacheItemHelper(Handle* handle) const override;
  void ApplyToAllEntries(const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                                                  const CacheItemHelper* helper)>& callback,
                         const ApplyToAllEntriesOptions& opts) override;
  void ApplyToHandle(Cache* cache, Handle* handle,
                     const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                                              const CacheItemHelper* helper)>& callback) override;
  Status GetSecondaryCacheCapacity(size_t& size) const override;
#endif

  bool Ref(Handle* handle) override;
  bool Release(Handle* handle, bool erase_if_last_ref) override;
  bool Release(Handle* handle, bool useful, bool erase_if_last_ref) override;
  void* Value(Handle* handle) override;
  void Erase(const Slice& key) override;
  uint64_t NewId() override { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  // Of the first tier.
  void SetCapacity(size_t capacity) override;
  void SetStrictCapacityLimit(bool strict) override { cache_->set_strict(strict); }
  bool HasStrictCapacityLimit() const override { return cache_->strict(); }
  size_t GetCapacity() const override { return cache_->capacity(); }
  size_t GetUsage() const override { return cache_->usage(); }
  size_t GetPinnedUsage() const override { return cache_->pinned_usage(); }
  size_t GetOccupancyCount() const override { return cache_->occupancy(); }
  size_t GetTableAddressCount() const override { return cache_->table_buckets(); }
  size_t GetUsage(Handle* handle) const override;
  size_t GetCharge(Handle* handle) const override;
  void EraseUnRefEntries() override { cache_->erase_unreferenced(); }

 private:
  Status insert(const Slice& key, const Object& object, nvcache::Priority priority,
                Handle** handle);
  // create(bytes, &value, &charge) makes RocksDB's object of a saved block.
  template <typename Create>
  Handle* find(const Slice& key, const CacheItemHelper* helper, ::rocksdb::Statistics* stats,
               Create create);

  const std::shared_ptr<TieredCacheImpl> cache_;
  std::atomic<uint64_t> next_id_{1};
};

// How RocksDB's objects become bytes, and go.
std::shared_ptr<ObjectCodec> make_codec(std::shared_ptr<::rocksdb::MemoryAllocator> allocator);

// As NewTieredCache; `allocator`, which may be null, is where RocksDB puts its blocks.
::rocksdb::Status open_tiered(const std::string& spec,
                              std::shared_ptr<::rocksdb::MemoryAllocator> allocator,
                              std::shared_ptr<::rocksdb::Cache>* cache,
                              std::shared_ptr<TieredCacheImpl>* opened);

// Appends the statistics of a cache that was looked into to a file, as a JSON object.
void append_stats(TieredCacheImpl& cache, const std::string& path);

}  // namespace nvcache::rocksdb
