#include "adapters/rocksdb/secondary_cache.h"

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "adapters/rocksdb/caller.h"
#include "adapters/rocksdb/key.h"
#include "adapters/rocksdb/open.h"
#include "base/scratch.h"

namespace nvcache::rocksdb {
namespace {

using ::rocksdb::Slice;
using ::rocksdb::Status;

// The result of a lookup, complete from the start. RocksDB takes the object out of it.
class CreatedObject final : public ::rocksdb::SecondaryCacheResultHandle {
 public:
  void set(void* object, size_t charge) {
    object_ = object;
    charge_ = charge;
  }
  bool IsReady() override { return true; }
  void Wait() override {}
  void* Value() override { return object_; }
  size_t Size() override { return charge_; }

 private:
  void* object_ = nullptr;
  size_t charge_ = 0;
};

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

}  // namespace

SecondaryCache::SecondaryCache(std::shared_ptr<BlockCache> cache, bool exclusive)
    : cache_(std::move(cache)), exclusive_(exclusive) {}

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

template <typename Create>
SecondaryCache::ResultHandle SecondaryCache::find(const Slice& key, bool advise_erase, bool& kept,
                                                  Create create) {
  kept = false;
  BlockKey block_key;
  if (off_.load(std::memory_order_relaxed) || !parse_key(key, kSecondaryForm, &block_key)) {
    return nullptr;
  }
  // Qualified names: Lookup is a method here.
  nvcache::Lookup lookup = cache_->lookup(block_key, {.caller = current_caller()});
  if (!lookup.hit()) return nullptr;
  const ByteView stored = lookup.pin.bytes();
  if (stored.size() <= kTypeBytes) return nullptr;  // not what keep() stores
  const ByteView block = stored.first(stored.size() - kTypeBytes);
  auto type = ::rocksdb::kNoCompression;
  if constexpr (kTypeBytes != 0) type = static_cast<::rocksdb::CompressionType>(stored.back());
  // Before the object: nobody could destroy an object that has no handle.
  auto handle = std::unique_ptr<CreatedObject>(new (std::nothrow) CreatedObject);
  if (handle == nullptr) return nullptr;

  void* object = nullptr;
  size_t charge = 0;
  Status created;
  try {
    created = create(Slice(reinterpret_cast<const char*>(block.data()), block.size()), type,
                     &object, &charge);
  } catch (...) {  // no memory for the object: the block is as good as before
    return nullptr;
  }
  // RocksDB's callbacks copy what they keep, so the block can be let go.
  lookup.pin = Pin();
  if (!created.ok() || object == nullptr) {
    cache_->erase(block_key);  // no later lookup could use it either
    return nullptr;
  }
  if (exclusive_ && advise_erase) {
    cache_->erase(block_key, Gone::kMayReturn);  // it is above; should it come back, it is right
  } else {
    kept = true;
  }
  handle->set(object, charge);
  return handle;
}

#if NVCACHE_ROCKSDB_7

Status SecondaryCache::Insert(const Slice& key, void* value,
                              const ::rocksdb::Cache::CacheItemHelper* helper) {
  return guarded([&] { return offer(key, value, helper); });
}

SecondaryCache::ResultHandle SecondaryCache::Lookup(
    const Slice& key, const ::rocksdb::Cache::CreateCallback& create_cb, bool /*wait*/,
    bool advise_erase, bool& is_in_sec_cache) {
  return find(
      key, advise_erase, is_in_sec_cache,
      [&create_cb](const Slice& block, ::rocksdb::CompressionType, void** object, size_t* charge) {
        return create_cb(block.data(), block.size(), object, charge);
      });
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
                                                    bool /*wait*/, bool advise_erase,
                                                    ::rocksdb::Statistics* /*stats*/,
                                                    bool& kept_in_sec_cache) {
  if (helper == nullptr || helper->create_cb == nullptr) return nullptr;
  return find(
      key, advise_erase, kept_in_sec_cache,
      [&](const Slice& block, ::rocksdb::CompressionType type, void** object, size_t* charge) {
        // RocksDB's own three-tier cache asserts that each block is of the volatile tier.
        return helper->create_cb(block, type, ::rocksdb::CacheTier::kVolatileTier, create_context,
                                 /*allocator=*/nullptr, object, charge);
      });
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
