// TieredBlockCache for RocksDB 7: values with deleters, and saved blocks that a callback of
// Lookup turns into objects. See tiered_cache.h, and versions.h for the differences.
#pragma once

#include <functional>

#include "adapters/rocksdb/tiered_cache.h"

namespace nvcache::rocksdb {

class TieredBlockCache final : public TieredBlockCacheBase {
 public:
  using TieredBlockCacheBase::TieredBlockCacheBase;

  // A value that stays in the first tier, for it cannot be saved.
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
};

}  // namespace nvcache::rocksdb
