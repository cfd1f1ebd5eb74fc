#include "adapters/rocksdb/tiered_cache.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "adapters/rocksdb/caller.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/statistics.h"

#if ROCKSDB_MAJOR < 8
// How large RocksDB says a saved block of its cache of compressed blocks is. Its
// saved form lacks the block's trailer, and so the compression type: what is made of it
// cannot be read. Null if RocksDB does not export it.
extern "C" __attribute__((weak)) size_t nvcache_compressed_block_size(void* block) __asm__(
    "_ZN7rocksdb15BlocklikeTraitsINS_13BlockContentsEE12SizeCallbackEPv");
#endif

namespace nvcache::rocksdb {
namespace {

using ::rocksdb::Cache;
using ::rocksdb::Slice;
using ::rocksdb::Status;
using Helper = Cache::CacheItemHelper;

std::string_view view(const Slice& slice) { return {slice.data(), slice.size()}; }
Slice slice(std::string_view text) { return {text.data(), text.size()}; }

TieredCache::Handle* inner(Cache::Handle* handle) {
  return reinterpret_cast<TieredCache::Handle*>(handle);
}
Cache::Handle* outer(TieredCache::Handle* handle) {
  return reinterpret_cast<Cache::Handle*>(handle);
}

// What the word of an ObjectKind holds: the helper, or with RocksDB 7 the deleter
// of what is not movable.
const Helper* helper_in(ObjectKind kind) { return reinterpret_cast<const Helper*>(kind.word); }

ObjectKind kind_of(const Helper* helper, const void* value) {
  bool movable = helper->size_cb != nullptr && helper->saveto_cb != nullptr && value != nullptr;
#if ROCKSDB_MAJOR < 8
  if (helper->size_cb == &nvcache_compressed_block_size) movable = false;
  if (!movable) return {.word = reinterpret_cast<uintptr_t>(helper->del_cb)};
#endif
  return {.word = reinterpret_cast<uintptr_t>(helper), .movable = movable};
}

nvcache::Priority to_nvcache(Cache::Priority priority) {
  switch (priority) {
    case Cache::Priority::HIGH:
      return nvcache::Priority::kHigh;
    case Cache::Priority::LOW:
      return nvcache::Priority::kLow;
    case Cache::Priority::BOTTOM:
      return nvcache::Priority::kBottom;
  }
  return nvcache::Priority::kLow;
}

// Only on hits below the first tier: there are few enough for RocksDB's counters.
void count_lower_hit([[maybe_unused]] const Helper* helper, ::rocksdb::Statistics* stats) {
  if (::rocksdb::GetPerfLevel() >= ::rocksdb::PerfLevel::kEnableCount) {
    ::rocksdb::get_perf_context()->secondary_cache_hit_count += 1;
  }
  if (stats == nullptr) return;
  stats->recordTick(::rocksdb::SECONDARY_CACHE_HITS, 1);
#if ROCKSDB_MAJOR >= 8
  switch (helper->role) {
    case ::rocksdb::CacheEntryRole::kFilterBlock:
      stats->recordTick(::rocksdb::SECONDARY_CACHE_FILTER_HITS, 1);
      break;
    case ::rocksdb::CacheEntryRole::kIndexBlock:
      stats->recordTick(::rocksdb::SECONDARY_CACHE_INDEX_HITS, 1);
      break;
    case ::rocksdb::CacheEntryRole::kDataBlock:
      stats->recordTick(::rocksdb::SECONDARY_CACHE_DATA_HITS, 1);
      break;
    default:
      break;
  }
#endif
}

class Codec final : public ObjectCodec {
 public:
  explicit Codec(std::shared_ptr<::rocksdb::MemoryAllocator> allocator)
      : allocator_(std::move(allocator)) {}

  size_t saved_bytes(const Object& object) override {
    return helper_in(object.kind)->size_cb(object.value);
  }

  bool save(const Object& object, MutableBytes into) override {
    return helper_in(object.kind)
        ->saveto_cb(object.value, 0, into.size(), reinterpret_cast<char*>(into.data()))
        .ok();
  }

#if ROCKSDB_MAJOR < 8
  static Cache::DeleterFn deleter_of(ObjectKind kind) {
    return kind.movable ? helper_in(kind)->del_cb : reinterpret_cast<Cache::DeleterFn>(kind.word);
  }

  void destroy(std::string_view key, const Object& object) override {
    const Cache::DeleterFn deleter = deleter_of(object.kind);
    if (deleter != nullptr) deleter(slice(key), object.value);
  }
#else
  void destroy(std::string_view /*key*/, const Object& object) override {
    const Helper* const helper = helper_in(object.kind);
    if (helper->del_cb != nullptr) helper->del_cb(object.value, allocator_.get());
  }
#endif

 private:
  [[maybe_unused]] const std::shared_ptr<::rocksdb::MemoryAllocator>
      allocator_;  // of RocksDB 8 and up
};

}  // namespace

std::shared_ptr<ObjectCodec> make_codec(std::shared_ptr<::rocksdb::MemoryAllocator> allocator) {
  return std::make_shared<Codec>(std::move(allocator));
}

TieredBlockCache::TieredBlockCache(std::shared_ptr<TieredCacheImpl> cache,
                                   std::shared_ptr<::rocksdb::MemoryAllocator> allocator)
    : Cache(std::move(allocator)), cache_(std::move(cache)) {}

Status TieredBlockCache::insert(const Slice& key, const Object& object, nvcache::Priority priority,
                                Handle** handle) {
  TieredCache::Handle* made = nullptr;
  bool replaced = false;
  const absl::Status inserted =
      cache_->insert(view(key), object, priority, handle == nullptr ? nullptr : &made, &replaced);
  if (handle != nullptr) *handle = outer(made);
  if (inserted.ok() && replaced) return Status::OkOverwritten();
  if (inserted.ok() || handle == nullptr) return Status::OK();
  return Status::MemoryLimit("nvcache: the block cache is full of blocks in use");
}

template <typename Create>
Cache::Handle* TieredBlockCache::find(const Slice& key, const Helper* helper,
                                      ::rocksdb::Statistics* stats, Create create) {
  bool made_one = false;
  const auto make = [&](ByteView saved, Object* made) {
    void* value = nullptr;
    size_t charge = 0;
    const Status created =
        create(Slice(reinterpret_cast<const char*>(saved.data()), saved.size()), &value, &charge);
    if (!created.ok() || value == nullptr) return false;
    *made = {.value = value, .kind = kind_of(helper, value), .charge_bytes = charge};
    made_one = true;
    return true;
  };
  const MakeObject make_object(make);
  TieredCache::Handle* const found = cache_->lookup(view(key), &make_object, current_caller());
  if (found != nullptr && made_one) count_lower_hit(helper, stats);
  return outer(found);
}

#if ROCKSDB_MAJOR < 8

Status TieredBlockCache::Insert(const Slice& key, void* value, size_t charge, DeleterFn deleter,
                                Handle** handle, Priority priority) {
  const ObjectKind kind{.word = reinterpret_cast<uintptr_t>(deleter)};
  return insert(key, {.value = value, .kind = kind, .charge_bytes = charge}, to_nvcache(priority),
                handle);
}

Status TieredBlockCache::Insert(const Slice& key, void* value, const Helper* helper, size_t charge,
                                Handle** handle, Priority priority) {
  if (helper == nullptr) return Status::InvalidArgument("nvcache: the helper is null");
  return insert(key, {.value = value, .kind = kind_of(helper, value), .charge_bytes = charge},
                to_nvcache(priority), handle);
}

Cache::Handle* TieredBlockCache::Lookup(const Slice& key, ::rocksdb::Statistics* /*stats*/) {
  return outer(cache_->lookup(view(key), /*make=*/nullptr, current_caller()));
}

Cache::Handle* TieredBlockCache::Lookup(const Slice& key, const Helper* helper,
                                        const CreateCallback& create_cb, Priority /*priority*/,
                                        bool /*wait*/, ::rocksdb::Statistics* stats) {
  if (helper == nullptr || helper->saveto_cb == nullptr || !create_cb) return Lookup(key, stats);
  return find(key, helper, stats, [&](const Slice& block, void** value, size_t* charge) {
    return create_cb(block.data(), block.size(), value, charge);
  });
}

Cache::DeleterFn TieredBlockCache::GetDeleter(Handle* handle) const {
  return Codec::deleter_of(cache_->object(inner(handle)).kind);
}

void TieredBlockCache::ApplyToAllEntries(
    const std::function<void(const Slice&, void*, size_t, DeleterFn)>& callback,
    const ApplyToAllEntriesOptions& /*opts*/) {
  cache_->for_each([&](std::string_view key, const Object& object) {
    callback(slice(key), object.value, object.charge_bytes, Codec::deleter_of(object.kind));
  });
}

#else

namespace {

// Index and filter blocks stay in DRAM whatever priority the table's options give them.
nvcache::Priority priority_of(Cache::Priority priority, const Helper* helper) {
  switch (helper->role) {
    case ::rocksdb::CacheEntryRole::kFilterBlock:
    case ::rocksdb::CacheEntryRole::kFilterMetaBlock:
    case ::rocksdb::CacheEntryRole::kIndexBlock:
      return nvcache::Priority::kHigh;
    default:
      return to_nvcache(priority);
  }
}

}  // namespace

Status TieredBlockCache::Insert(const Slice& key, ObjectPtr value, const Helper* helper,
                                size_t charge, Handle** handle, Priority priority,
                                const Slice& /*compressed*/, ::rocksdb::CompressionType /*type*/) {
  return insert(key, {.value = value, .kind = kind_of(helper, value), .charge_bytes = charge},
                priority_of(priority, helper), handle);
}

Cache::Handle* TieredBlockCache::CreateStandalone(const Slice& key, ObjectPtr value,
                                                  const Helper* helper, size_t charge,
                                                  bool allow_uncharged) {
  const bool fits = !cache_->strict() || cache_->pinned_usage() + charge <= cache_->capacity();
  if (!fits && !allow_uncharged) return nullptr;
  return outer(cache_->standalone(
      view(key),
      {.value = value, .kind = kind_of(helper, value), .charge_bytes = fits ? charge : 0}));
}

Cache::Handle* TieredBlockCache::Lookup(const Slice& key, const Helper* helper,
                                        CreateContext* create_context, Priority /*priority*/,
                                        ::rocksdb::Statistics* stats) {
  if (helper == nullptr || helper->create_cb == nullptr) {
    return outer(cache_->lookup(view(key), /*make=*/nullptr, current_caller()));
  }
  return find(key, helper, stats, [&](const Slice& block, ObjectPtr* value, size_t* charge) {
    return helper->create_cb(block, ::rocksdb::kNoCompression, ::rocksdb::CacheTier::kVolatileTier,
                             create_context, memory_allocator(), value, charge);
  });
}

const Helper* TieredBlockCache::GetCacheItemHelper(Handle* handle) const {
  return helper_in(cache_->object(inner(handle)).kind);
}

void TieredBlockCache::ApplyToAllEntries(
    const std::function<void(const Slice&, ObjectPtr, size_t, const Helper*)>& callback,
    const ApplyToAllEntriesOptions& /*opts*/) {
  cache_->for_each([&](std::string_view key, const Object& object) {
    callback(slice(key), object.value, object.charge_bytes, helper_in(object.kind));
  });
}

void TieredBlockCache::ApplyToHandle(
    Cache* cache, Handle* handle,
    const std::function<void(const Slice&, ObjectPtr, size_t, const Helper*)>& callback) {
  const TieredCacheImpl& owner = *static_cast<TieredBlockCache*>(cache)->cache_;
  const Object& object = owner.object(inner(handle));
  callback(slice(owner.key(inner(handle))), object.value, object.charge_bytes,
           helper_in(object.kind));
}

Status TieredBlockCache::GetSecondaryCacheCapacity(size_t& size) const {
  const TieredStats stats = cache_->stats();
  size = 0;
  for (size_t i = 1; i < stats.tiers.size(); ++i) size += stats.tiers[i].size_bytes;
  return Status::OK();
}

#endif

bool TieredBlockCache::Ref(Handle* handle) {
  cache_->ref(inner(handle));
  return true;
}

bool TieredBlockCache::Release(Handle* handle, bool erase_if_last_ref) {
  return handle != nullptr && cache_->release(inner(handle), erase_if_last_ref);
}

bool TieredBlockCache::Release(Handle* handle, bool /*useful*/, bool erase_if_last_ref) {
  return Release(handle, erase_if_last_ref);
}

void* TieredBlockCache::Value(Handle* handle) { return cache_->object(inner(handle)).value; }

void TieredBlockCache::Erase(const Slice& key) { cache_->erase(view(key)); }

void TieredBlockCache::SetCapacity(size_t capacity) { cache_->set_capacity(capacity); }

size_t TieredBlockCache::GetUsage(Handle* handle) const { return cache_->usage_of(inner(handle)); }

size_t TieredBlockCache::GetCharge(Handle* handle) const {
  return cache_->object(inner(handle)).charge_bytes;
}

}  // namespace nvcache::rocksdb
