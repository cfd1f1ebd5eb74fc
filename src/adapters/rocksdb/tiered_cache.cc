#include "adapters/rocksdb/tiered_cache.h"

#include <string>
#include <string_view>
#include <utility>

#include "adapters/rocksdb/caller.h"
#include "adapters/rocksdb/key.h"
#include "adapters/rocksdb/tiered_codec.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/statistics.h"

namespace nvcache::rocksdb {

using ::rocksdb::Cache;
using ::rocksdb::Status;

TieredBlockCacheBase::TieredBlockCacheBase(std::shared_ptr<TieredCache> cache,
                                           std::shared_ptr<::rocksdb::MemoryAllocator> allocator)
    : Cache(std::move(allocator)), cache_(std::move(cache)), control_(*cache_->control()) {}

std::string TieredBlockCacheBase::GetPrintableOptions() const {
  const TieredStats stats = cache_->stats();
  // Not by Abseil, which is not built for the ABI of strings that adapters/jvm compiles this for.
  std::string text = "    nvcache.policy: " + stats.policy + "\n";
  for (size_t i = 0; i < stats.tiers.size(); ++i) {
    text += "    nvcache.tier" + std::to_string(i) + ": " + stats.tiers[i].medium + ", " +
            std::to_string(stats.tiers[i].size_bytes) + " bytes\n";
  }
  return text;
}

// ---- blocks

nvcache::Priority TieredBlockCacheBase::to_nvcache(Priority priority) {
  switch (priority) {
    case Priority::HIGH:
      return nvcache::Priority::kHigh;
    case Priority::LOW:
      return nvcache::Priority::kLow;
    case Priority::BOTTOM:
      return nvcache::Priority::kBottom;
  }
  return nvcache::Priority::kLow;
}

// A key that is unique only as long as the process lives stays in DRAM: a warm tier would have its
// object under the next process's key.
Status TieredBlockCacheBase::insert(const Slice& key, Object object, nvcache::Priority priority,
                                    Handle** handle) {
  BlockKey lasting;
  if (!parse_key(key, Form::kParsed, &lasting)) object.kind = kept_in_dram(object.kind);
  TieredCache::Handle* inserted = nullptr;
  bool replaced = false;
  const nvcache::Status status = cache_->insert(view(key), object, priority,
                                                handle == nullptr ? nullptr : &inserted, &replaced);
  if (handle != nullptr) *handle = outer(inserted);
  if (status.ok() && replaced) return Status::OkOverwritten();
  if (status.ok() || handle == nullptr) return Status::OK();
  return Status::MemoryLimit("nvcache: the block cache is full of blocks in use");
}

Cache::Handle* TieredBlockCacheBase::find(const Slice& key, const CacheItemHelper* helper,
                                          bool* made, Create create) {
  *made = false;
  const auto make = [&](ByteView saved, Object* object) {
    void* value = nullptr;
    size_t charge = 0;
    const Status created =
        create(Slice(reinterpret_cast<const char*>(saved.data()), saved.size()), &value, &charge);
    if (!created.ok() || value == nullptr) return false;
    *object = {.value = value, .kind = kind_of(helper, value), .charge_bytes = charge};
    *made = true;
    return true;
  };
  const MakeObject make_object(make);
  // A lower tier may have such a key's object of an earlier process.
  BlockKey lasting;
  const bool below = parse_key(key, Form::kParsed, &lasting);
  TieredCache::Handle* const found =
      cache_->lookup(view(key), below ? &make_object : nullptr, current_caller());
  if (found == nullptr) *made = false;
  return outer(found);
}

Cache::Handle* TieredBlockCacheBase::find(const Slice& key) {
  return outer(cache_->lookup(view(key), /*make=*/nullptr, current_caller()));
}

// Hits of lower tiers are rare enough to count in RocksDB's own counters.
void TieredBlockCacheBase::count_lower_hit(::rocksdb::Statistics* stats) {
  if (::rocksdb::GetPerfLevel() >= ::rocksdb::PerfLevel::kEnableCount) {
    ::rocksdb::get_perf_context()->secondary_cache_hit_count += 1;
  }
  if (stats != nullptr) stats->recordTick(::rocksdb::SECONDARY_CACHE_HITS, 1);
}

bool TieredBlockCacheBase::Ref(Handle* handle) {
  cache_->ref(inner(handle));
  return true;
}

bool TieredBlockCacheBase::Release(Handle* handle, bool erase_if_last_ref) {
  return handle != nullptr && cache_->release(inner(handle), erase_if_last_ref);
}

bool TieredBlockCacheBase::Release(Handle* handle, bool /*useful*/, bool erase_if_last_ref) {
  return Release(handle, erase_if_last_ref);
}

void* TieredBlockCacheBase::Value(Handle* handle) { return cache_->object(inner(handle)).value; }

void TieredBlockCacheBase::Erase(const Slice& key) { cache_->erase(view(key)); }

// ---- the first tier

void TieredBlockCacheBase::SetCapacity(size_t capacity) { control_.set_capacity(capacity); }

void TieredBlockCacheBase::SetStrictCapacityLimit(bool strict) { control_.set_strict(strict); }

bool TieredBlockCacheBase::HasStrictCapacityLimit() const { return control_.limits().strict; }

size_t TieredBlockCacheBase::GetCapacity() const { return control_.limits().capacity_bytes; }

size_t TieredBlockCacheBase::GetUsage() const { return control_.use().used_bytes; }

size_t TieredBlockCacheBase::GetPinnedUsage() const { return control_.use().pinned_bytes; }

size_t TieredBlockCacheBase::GetOccupancyCount() const { return control_.use().objects; }

size_t TieredBlockCacheBase::GetTableAddressCount() const { return control_.use().buckets; }

size_t TieredBlockCacheBase::GetUsage(Handle* handle) const {
  return control_.held(inner(handle)).used_bytes;
}

size_t TieredBlockCacheBase::GetCharge(Handle* handle) const {
  return cache_->object(inner(handle)).charge_bytes;
}

void TieredBlockCacheBase::EraseUnRefEntries() { control_.erase_unreferenced(); }

}  // namespace nvcache::rocksdb
