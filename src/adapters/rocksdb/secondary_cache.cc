#include "adapters/rocksdb/secondary_cache.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "adapters/rocksdb/caller.h"
#include "adapters/rocksdb/key.h"
#include "adapters/rocksdb/open.h"
#include "base/scratch.h"

namespace nvcache::rocksdb {
namespace {

using ::rocksdb::Slice;
using ::rocksdb::Status;

constexpr size_t kWaitedForAtOnce = 32;  // what a batch of MultiGet has at most

Status not_a_cache_key() { return Status::NotSupported("nvcache: cache keys are 16 bytes"); }

// RocksDB must see no exception. Its own callbacks may throw any, if they run out of memory.
template <typename Operation>
Status guarded(Operation operation) noexcept {
  try {
    return operation();
  } catch (...) {
    return Status::MemoryLimit();  // without a message: that would be an allocation
  }
}

#if NVCACHE_ROCKSDB_7
Status create_object(const BlockCreator& create, const Slice& block, ::rocksdb::CompressionType,
                     void** object, size_t* charge) {
  return create(block.data(), block.size(), object, charge);
}
#else
Status create_object(const BlockCreator& create, const Slice& block,
                     ::rocksdb::CompressionType type, void** object, size_t* charge) {
  // RocksDB's own three-tier cache asserts that each block is of the volatile tier.
  return create.helper->create_cb(block, type, ::rocksdb::CacheTier::kVolatileTier, create.context,
                                  /*allocator=*/nullptr, object, charge);
}
#endif

}  // namespace

// A handle of RocksDB's: the object, which RocksDB takes out of it, or nothing. While it is not
// ready, the lookup is to be done by WaitAll.
struct SecondaryCache::Found final : ::rocksdb::SecondaryCacheResultHandle {
  bool IsReady() override { return ready; }
  void Wait() override {
    if (!ready) cache->WaitAll({this});
  }
  void* Value() override { return object; }
  size_t Size() override { return charge; }

  SecondaryCache* cache = nullptr;
  BlockKey key;
  BlockCreator create;
  Caller caller = Caller::kForeground;
  bool erase = false;  // once it is found
  bool ready = false;
  void* object = nullptr;
  size_t charge = 0;
};

SecondaryCache::SecondaryCache(std::shared_ptr<BlockCache> cache, bool exclusive)
    : cache_(std::move(cache)), exclusive_(exclusive), batches_(cache_->reads_side_by_side()) {}

std::string SecondaryCache::GetPrintableOptions() const {
  try {
    return printable_options(*cache_);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

Status SecondaryCache::offer(const Slice& key, void* value,
                             const ::rocksdb::Cache::CacheItemHelper* helper) {
  BlockKey block_key;
  if (!parse_key(key, kSecondaryForm, &block_key)) return not_a_cache_key();
  if (value == nullptr || helper == nullptr || helper->size_cb == nullptr ||
      helper->saveto_cb == nullptr) {
    return Status::NotSupported("nvcache: the value cannot be saved");
  }
  if (off_.load(std::memory_order_relaxed)) return Status::OK();
  const size_t size = helper->size_cb(value);
  return keep(block_key, size, ::rocksdb::kNoCompression,
              [&](char* into) { return helper->saveto_cb(value, 0, size, into); });
}

// Blocks come here when they leave DRAM, or when RocksDB has read them, whichever path brought them
// there. Most are refused, and not copied then.
template <typename Save>
Status SecondaryCache::keep(const BlockKey& key, size_t size, ::rocksdb::CompressionType type,
                            Save save) {
  const size_t stored = size == 0 ? 0 : size + kTypeBytes;
  Admission admission = cache_->admit(key, stored, Origin::kRead);
  if (!admission.admitted()) return Status::OK();
  const MutableBytes buffer = thread_scratch(stored);
  if (buffer.empty()) return Status::MemoryLimit("nvcache: no memory for a block");
  Status saved = save(reinterpret_cast<char*>(buffer.data()));
  if (!saved.ok()) return saved;
  if constexpr (kTypeBytes != 0) buffer[size] = static_cast<std::byte>(type);
  const bool kept = std::move(admission).commit(buffer).admitted();
  if (kept && type != ::rocksdb::kNoCompression) cache_->note_compressed(size);
  return Status::OK();
}

SecondaryCache::ResultHandle SecondaryCache::find(const Slice& key, const BlockCreator& create,
                                                  bool wait, bool advise_erase, bool& kept) {
  kept = false;
  BlockKey block_key;
  if (off_.load(std::memory_order_relaxed) || !parse_key(key, kSecondaryForm, &block_key)) {
    return nullptr;
  }
  const bool pending = !wait && batches_ && cache_->contains(block_key);
  const Caller caller = current_caller();
  nvcache::Lookup lookup;  // Lookup alone is a method here
  if (!pending) {
    lookup = cache_->lookup(block_key, {.caller = caller});
    if (!lookup.hit()) return nullptr;
  }
  // Before the object: nobody could destroy an object that has no handle.
  auto found = std::unique_ptr<Found>(new (std::nothrow) Found);
  if (found == nullptr) return nullptr;
  found->cache = this;
  found->key = block_key;
  found->caller = caller;
  found->erase = exclusive_ && advise_erase;
  try {
    found->create = create;
  } catch (...) {
    return nullptr;
  }
  if (!pending) {
    serve(*found, std::move(lookup));
    if (found->object == nullptr) return nullptr;
  }
  kept = !found->erase;
  return found;
}

// Leaves it without an object, a miss, if the block was not found, or RocksDB cannot use it.
void SecondaryCache::serve(Found& found, nvcache::Lookup lookup) {
  found.ready = true;
  const ByteView stored = lookup.pin.bytes();
  if (stored.size() <= kTypeBytes) return;  // nothing, or not what keep() stores
  const ByteView block = stored.first(stored.size() - kTypeBytes);
  auto type = ::rocksdb::kNoCompression;
  if constexpr (kTypeBytes != 0) type = static_cast<::rocksdb::CompressionType>(stored.back());
  void* object = nullptr;
  size_t charge = 0;
  Status created;
  try {
    created = create_object(found.create,
                            Slice(reinterpret_cast<const char*>(block.data()), block.size()), type,
                            &object, &charge);
  } catch (...) {  // no memory for the object: the block is as good as before
    return;
  }
  // RocksDB's callbacks copy what they keep, so the block can be let go.
  lookup.pin = Pin();
  if (!created.ok() || object == nullptr) {
    cache_->erase(found.key);  // no later lookup could use it either
    return;
  }
  // It is above; should it come back, it is right.
  if (found.erase) cache_->erase(found.key, Gone::kMayReturn);
  found.object = object;
  found.charge = charge;
}

void SecondaryCache::WaitAll(std::vector<::rocksdb::SecondaryCacheResultHandle*> handles) {
  std::array<Found*, kWaitedForAtOnce> waiting{};
  size_t count = 0;
  const auto wait_for_them = [&] {
    std::array<BlockLookup, kWaitedForAtOnce> lookups;
    for (size_t at = 0; at < count; ++at) {
      lookups[at].key = waiting[at]->key;
      lookups[at].options.caller = waiting[at]->caller;
    }
    cache_->lookup_all(std::span(lookups).first(count));
    for (size_t at = 0; at < count; ++at) serve(*waiting[at], std::move(lookups[at].result));
    count = 0;
  };
  for (::rocksdb::SecondaryCacheResultHandle* const handle : handles) {
    if (handle == nullptr || handle->IsReady()) continue;
    waiting[count++] = static_cast<Found*>(handle);
    if (count == waiting.size()) wait_for_them();
  }
  if (count > 0) wait_for_them();
}

#if NVCACHE_ROCKSDB_7

Status SecondaryCache::Insert(const Slice& key, void* value,
                              const ::rocksdb::Cache::CacheItemHelper* helper) {
  return guarded([&] { return offer(key, value, helper); });
}

SecondaryCache::ResultHandle SecondaryCache::Lookup(
    const Slice& key, const ::rocksdb::Cache::CreateCallback& create_cb, bool wait,
    bool advise_erase, bool& is_in_sec_cache) {
  return find(key, create_cb, wait, advise_erase, is_in_sec_cache);
}

#else

Status SecondaryCache::Insert(const Slice& key, ::rocksdb::Cache::ObjectPtr value,
                              const ::rocksdb::Cache::CacheItemHelper* helper,
                              bool /*force_insert*/) {
  // The cache decides about admission: it knows what a write costs its medium.
  return guarded([&] { return offer(key, value, helper); });
}

Status SecondaryCache::InsertSaved(const Slice& key, const Slice& saved,
                                   ::rocksdb::CompressionType type,
                                   ::rocksdb::CacheTier /*source*/) {
  return guarded([&] {
    BlockKey block_key;
    if (!parse_key(key, kSecondaryForm, &block_key)) return not_a_cache_key();
    if (off_.load(std::memory_order_relaxed)) return Status::OK();
    return keep(block_key, saved.size(), type, [&](char* into) {
      std::memcpy(into, saved.data(), saved.size());
      return Status::OK();
    });
  });
}

SecondaryCache::ResultHandle SecondaryCache::Lookup(const Slice& key,
                                                    const ::rocksdb::Cache::CacheItemHelper* helper,
                                                    ::rocksdb::Cache::CreateContext* create_context,
                                                    bool wait, bool advise_erase,
                                                    ::rocksdb::Statistics* /*stats*/,
                                                    bool& kept_in_sec_cache) {
  if (helper == nullptr || helper->create_cb == nullptr) return nullptr;
  return find(key, {.helper = helper, .context = create_context}, wait, advise_erase,
              kept_in_sec_cache);
}

#endif

void SecondaryCache::Erase(const Slice& key) {
  BlockKey block_key;
  if (parse_key(key, kSecondaryForm, &block_key)) cache_->erase(block_key);
}

Status SecondaryCache::SetCapacity(size_t capacity) {
  return guarded([&] {
    Status resized = to_rocksdb(cache_->resize(capacity));
    if (resized.ok()) off_.store(capacity == 0, std::memory_order_relaxed);
    return resized;
  });
}

Status SecondaryCache::GetCapacity(size_t& capacity) {
  return guarded([&] {
    capacity = off_.load(std::memory_order_relaxed) ? 0 : cache_->stats().size_bytes;
    return Status::OK();
  });
}

Status NewSecondaryCache(const CacheOptions& options,
                         std::shared_ptr<::rocksdb::SecondaryCache>* secondary,
                         std::shared_ptr<BlockCache>* opened) {
  return guarded([&] {
    StatusOr<std::shared_ptr<BlockCache>> cache = open_from(options);
    if (!cache.ok()) return to_rocksdb(cache.status());
    *secondary = std::make_shared<SecondaryCache>(*cache, options.exclusive);
    if (opened != nullptr) *opened = *std::move(cache);
    return Status::OK();
  });
}

}  // namespace nvcache::rocksdb
