#include "adapters/rocksdb/versions.h"
#if !NVCACHE_ROCKSDB_7

#include <string_view>

#include "adapters/rocksdb/tiered_cache_8.h"
#include "adapters/rocksdb/tiered_codec.h"
#include "rocksdb/statistics.h"

namespace nvcache::rocksdb {

using ::rocksdb::Cache;
using ::rocksdb::CacheEntryRole;
using ::rocksdb::Status;

namespace {

bool is_metadata(CacheEntryRole role) {
  return role == CacheEntryRole::kFilterBlock || role == CacheEntryRole::kFilterMetaBlock ||
         role == CacheEntryRole::kIndexBlock;
}

void count_lower_hit_by_role(CacheEntryRole role, ::rocksdb::Statistics* stats) {
  if (stats == nullptr) return;
  switch (role) {
    case CacheEntryRole::kFilterBlock:
      stats->recordTick(::rocksdb::SECONDARY_CACHE_FILTER_HITS, 1);
      break;
    case CacheEntryRole::kIndexBlock:
      stats->recordTick(::rocksdb::SECONDARY_CACHE_INDEX_HITS, 1);
      break;
    case CacheEntryRole::kDataBlock:
      stats->recordTick(::rocksdb::SECONDARY_CACHE_DATA_HITS, 1);
      break;
    default:
      break;
  }
}

}  // namespace

// Index and filter blocks stay in DRAM whatever priority the table's options give them.
Status TieredBlockCache::Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper,
                                size_t charge, Handle** handle, Priority priority,
                                const Slice& /*compressed*/, ::rocksdb::CompressionType /*type*/) {
  return insert(key, {.value = value, .kind = kind_of(helper, value), .charge_bytes = charge},
                is_metadata(helper->role) ? nvcache::Priority::kHigh : to_nvcache(priority),
                handle);
}

Cache::Handle* TieredBlockCache::CreateStandalone(const Slice& key, ObjectPtr value,
                                                  const CacheItemHelper* helper, size_t charge,
                                                  bool allow_uncharged) {
  const TieredCacheControl::Limits limits = control().limits();
  const bool fits =
      !limits.strict || control().use().pinned_bytes + charge <= limits.capacity_bytes;
  if (!fits && !allow_uncharged) return nullptr;
  return outer(cache().standalone(
      view(key),
      {.value = value, .kind = kind_of(helper, value), .charge_bytes = fits ? charge : 0},
      /*beyond_limit=*/allow_uncharged));
}

Cache::Handle* TieredBlockCache::Lookup(const Slice& key, const CacheItemHelper* helper,
                                        CreateContext* create_context, Priority /*priority*/,
                                        ::rocksdb::Statistics* stats) {
  if (helper == nullptr || helper->create_cb == nullptr) return find(key);
  bool made = false;
  Handle* const handle =
      find(key, helper, &made, [&](const Slice& block, void** value, size_t* charge) {
        return helper->create_cb(block, ::rocksdb::kNoCompression,
                                 ::rocksdb::CacheTier::kVolatileTier, create_context,
                                 memory_allocator(), value, charge);
      });
  if (!made) return handle;
  count_lower_hit(stats);
  count_lower_hit_by_role(helper->role, stats);
  return handle;
}

const Cache::CacheItemHelper* TieredBlockCache::GetCacheItemHelper(Handle* handle) const {
  return helper_in(cache().object(inner(handle)).kind);
}

void TieredBlockCache::ApplyToAllEntries(
    const std::function<void(const Slice&, ObjectPtr, size_t, const CacheItemHelper*)>& callback,
    const ApplyToAllEntriesOptions& /*opts*/) {
  control().for_each([&](std::string_view key, const Object& object) {
    callback(slice(key), object.value, object.charge_bytes, helper_in(object.kind));
  });
}

#if NVCACHE_ROCKSDB_APPLY_TO_HANDLE
void TieredBlockCache::ApplyToHandle(
    Cache* cache, Handle* handle,
    const std::function<void(const Slice&, ObjectPtr, size_t, const CacheItemHelper*)>& callback) {
  const TieredBlockCache& owner = *static_cast<TieredBlockCache*>(cache);
  const Object& object = owner.cache().object(inner(handle));
  callback(slice(owner.control().held(inner(handle)).key), object.value, object.charge_bytes,
           helper_in(object.kind));
}
#endif

Status TieredBlockCache::GetSecondaryCacheCapacity(size_t& size) const {
  const TieredStats stats = cache().stats();
  size = 0;
  for (size_t i = 1; i < stats.tiers.size(); ++i) size += stats.tiers[i].size_bytes;
  return Status::OK();
}

}  // namespace nvcache::rocksdb

#endif  // !NVCACHE_ROCKSDB_7
