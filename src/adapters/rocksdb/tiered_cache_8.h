// TieredBlockCache for RocksDB 8.10 and up: every value has a helper that can destroy it,
// knows its role, and turns saved blocks into objects. See tiered_cache.h, and versions.h
// for the differences.
#pragma once

#include <functional>

#include "adapters/rocksdb/tiered_cache.h"

namespace nvcache::rocksdb {

class TieredBlockCache final : public TieredBlockCacheBase {
 public:
  using TieredBlockCacheBase::TieredBlockCacheBase;

  // Does not keep the compressed form of a block.
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
#if NVCACHE_ROCKSDB_APPLY_TO_HANDLE
  void ApplyToHandle(Cache* cache, Handle* handle,
                     const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                                              const CacheItemHelper* helper)>& callback) override;
#endif
  // All lower tiers together.
  Status GetSecondaryCacheCapacity(size_t& size) const override;
};

}  // namespace nvcache::rocksdb
