#include "adapters/rocksdb/versions.h"
#if NVCACHE_ROCKSDB_7

#include <string_view>

#include "adapters/rocksdb/tiered_cache_7.h"
#include "adapters/rocksdb/tiered_codec.h"

namespace nvcache::rocksdb {

using ::rocksdb::Cache;
using ::rocksdb::Status;

Status TieredBlockCache::Insert(const Slice& key, void* value, size_t charge, DeleterFn deleter,
                                Handle** handle, Priority priority) {
  return insert(key, {.value = value, .kind = kind_of(deleter), .charge_bytes = charge},
                to_nvcache(priority), handle);
}

Status TieredBlockCache::Insert(const Slice& key, void* value, const CacheItemHelper* helper,
                                size_t charge, Handle** handle, Priority priority) {
  if (helper == nullptr) return Status::InvalidArgument("nvcache: the helper is null");
  return insert(key, {.value = value, .kind = kind_of(helper, value), .charge_bytes = charge},
                to_nvcache(priority), handle);
}

Cache::Handle* TieredBlockCache::Lookup(const Slice& key, ::rocksdb::Statistics* /*stats*/) {
  return find(key);
}

Cache::Handle* TieredBlockCache::Lookup(const Slice& key, const CacheItemHelper* helper,
                                        const CreateCallback& create_cb, Priority /*priority*/,
                                        bool /*wait*/, ::rocksdb::Statistics* stats) {
  if (helper == nullptr || helper->saveto_cb == nullptr || !create_cb) return find(key);
  bool made = false;
  Handle* const handle =
      find(key, helper, &made, [&](const Slice& block, void** value, size_t* charge) {
        return create_cb(block.data(), block.size(), value, charge);
      });
  if (made) count_lower_hit(stats);
  return handle;
}

Cache::DeleterFn TieredBlockCache::GetDeleter(Handle* handle) const {
  return deleter_of(cache().object(inner(handle)).kind);
}

void TieredBlockCache::ApplyToAllEntries(
    const std::function<void(const Slice&, void*, size_t, DeleterFn)>& callback,
    const ApplyToAllEntriesOptions& /*opts*/) {
  control().for_each([&](std::string_view key, const Object& object) {
    callback(slice(key), object.value, object.charge_bytes, deleter_of(object.kind));
  });
}

}  // namespace nvcache::rocksdb

#endif  // NVCACHE_ROCKSDB_7
