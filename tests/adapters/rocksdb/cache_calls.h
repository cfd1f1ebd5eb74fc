// rocksdb::Cache and SecondaryCache as tests call them, under any version: what RocksDB 8 changed
// (src/adapters/rocksdb/versions.h) is here, and in no test.
//
// An object's callbacks are those of RocksDB 7, but for two things: what saves an object writes to
// SavedBytes*, and what destroys it gets a null key from RocksDB 8 on.
#pragma once

#include <functional>
#include <memory>

#include "adapters/rocksdb/versions.h"
#include "rocksdb/cache.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/slice.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"

namespace nvcache::rocksdb::testing {

using Cache = ::rocksdb::Cache;
using Create =
    std::function<::rocksdb::Status(const void* bytes, size_t size, void** object, size_t* charge)>;
using Visit = std::function<void(const ::rocksdb::Slice& key, void* object, size_t charge,
                                 Cache::DeleterFn deleter)>;

#if NVCACHE_ROCKSDB_7

using SavedBytes = void;
inline constexpr bool kTakesNoNullHelper = true;  // and says so

template <void (*kDestroy)(const ::rocksdb::Slice*, void*)>
void destroy_by(const ::rocksdb::Slice& key, void* object) {
  kDestroy(&key, object);
}

struct Helper : Cache::CacheItemHelper {
  using CacheItemHelper::CacheItemHelper;
};

inline Cache::Handle* look_up(Cache& cache, const ::rocksdb::Slice& key,
                              const Cache::CacheItemHelper* helper, const Create& create,
                              ::rocksdb::Statistics* statistics = nullptr) {
  return cache.Lookup(key, helper, create, Cache::Priority::LOW, /*wait=*/true, statistics);
}
inline bool is_ready(Cache& cache, Cache::Handle* handle) { return cache.IsReady(handle); }
inline Cache::DeleterFn deleter_at(Cache& cache, Cache::Handle* handle) {
  return cache.GetDeleter(handle);
}
// An entry without an object and a deleter, as reservations are.
inline ::rocksdb::Status reserve(Cache& cache, const ::rocksdb::Slice& key, size_t charge,
                                 Cache::Handle** handle = nullptr) {
  return cache.Insert(key, nullptr, charge, nullptr, handle);
}
inline void for_each(Cache& cache, const Visit& visit) { cache.ApplyToAllEntries(visit, {}); }

inline ::rocksdb::Status insert_below(::rocksdb::SecondaryCache& cache, const ::rocksdb::Slice& key,
                                      void* object, const Cache::CacheItemHelper* helper) {
  return cache.Insert(key, object, helper);
}
inline std::unique_ptr<::rocksdb::SecondaryCacheResultHandle> look_up_below(
    ::rocksdb::SecondaryCache& cache, const ::rocksdb::Slice& key,
    const Cache::CacheItemHelper* /*helper*/, const Create& create, bool wait, bool advise_erase,
    bool* kept) {
  return cache.Lookup(key, create, wait, advise_erase, *kept);
}
// A lookup that may be pending. `create` must live until it is waited for.
class LookupBelow {
 public:
  explicit LookupBelow(const Create& create) : create_(create) {}
  std::unique_ptr<::rocksdb::SecondaryCacheResultHandle> begin(::rocksdb::SecondaryCache& cache,
                                                               const ::rocksdb::Slice& key,
                                                               const Cache::CacheItemHelper*,
                                                               bool advise_erase, bool* kept) {
    return cache.Lookup(key, Create(create_), /*wait=*/false, advise_erase, *kept);
  }

 private:
  const Create& create_;
};

#else

using SavedBytes = char;
inline constexpr bool kTakesNoNullHelper = false;  // to pass one is an error of the caller

template <void (*kDestroy)(const ::rocksdb::Slice*, void*)>
void destroy_by(void* object, ::rocksdb::MemoryAllocator*) {
  kDestroy(nullptr, object);
}

// The maker of objects is in a helper, which is one for all lookups: it calls the function that a
// lookup brings along.
struct CreateBy final : Cache::CreateContext {
  explicit CreateBy(const Create& by) : create(by) {}
  const Create& create;
};
inline ::rocksdb::Status create_by(const ::rocksdb::Slice& bytes, ::rocksdb::CompressionType,
                                   ::rocksdb::CacheTier, Cache::CreateContext* context,
                                   ::rocksdb::MemoryAllocator*, void** object, size_t* charge) {
  return static_cast<CreateBy*>(context)->create(bytes.data(), bytes.size(), object, charge);
}

struct PlainHelper {
  Cache::CacheItemHelper plain;  // of objects that cannot be saved
};
struct Helper : private PlainHelper, Cache::CacheItemHelper {
  static constexpr auto kRole = ::rocksdb::CacheEntryRole::kDataBlock;
  Helper(Cache::SizeCallback size, Cache::SaveToCallback save, Cache::DeleterFn destroy)
      : PlainHelper{Cache::CacheItemHelper(kRole, destroy)},
        CacheItemHelper(kRole, destroy, size, save, create_by, &plain) {}
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
};

inline Cache::Handle* look_up(Cache& cache, const ::rocksdb::Slice& key,
                              const Cache::CacheItemHelper* helper, const Create& create,
                              ::rocksdb::Statistics* statistics = nullptr) {
  CreateBy context(create);
  const bool makes = helper != nullptr && create != nullptr;
  return cache.Lookup(key, makes || helper == nullptr ? helper : helper->without_secondary_compat,
                      &context, Cache::Priority::LOW, statistics);
}
inline bool is_ready(Cache&, Cache::Handle*) { return true; }  // what is not is another class
inline Cache::DeleterFn deleter_at(Cache& cache, Cache::Handle* handle) {
  return cache.GetCacheItemHelper(handle)->del_cb;
}
inline ::rocksdb::Status reserve(Cache& cache, const ::rocksdb::Slice& key, size_t charge,
                                 Cache::Handle** handle = nullptr) {
  static const Cache::CacheItemHelper nothing;
  return cache.Insert(key, nullptr, &nothing, charge, handle);
}
inline void for_each(Cache& cache, const Visit& visit) {
  cache.ApplyToAllEntries(
      [&](const ::rocksdb::Slice& key, void* object, size_t charge,
          const Cache::CacheItemHelper* helper) { visit(key, object, charge, helper->del_cb); },
      {});
}

inline ::rocksdb::Status insert_below(::rocksdb::SecondaryCache& cache, const ::rocksdb::Slice& key,
                                      void* object, const Cache::CacheItemHelper* helper) {
  return cache.Insert(key, object, helper, /*force_insert=*/false);
}
inline std::unique_ptr<::rocksdb::SecondaryCacheResultHandle> look_up_below(
    ::rocksdb::SecondaryCache& cache, const ::rocksdb::Slice& key,
    const Cache::CacheItemHelper* helper, const Create& create, bool wait, bool advise_erase,
    bool* kept) {
  CreateBy context(create);
  return cache.Lookup(key, helper, &context, wait, advise_erase, /*stats=*/nullptr, *kept);
}
class LookupBelow {
 public:
  explicit LookupBelow(const Create& create) : context_(create) {}
  std::unique_ptr<::rocksdb::SecondaryCacheResultHandle> begin(::rocksdb::SecondaryCache& cache,
                                                               const ::rocksdb::Slice& key,
                                                               const Cache::CacheItemHelper* helper,
                                                               bool advise_erase, bool* kept) {
    return cache.Lookup(key, helper, &context_, /*wait=*/false, advise_erase, /*stats=*/nullptr,
                        *kept);
  }

 private:
  CreateBy context_;
};

#endif

}  // namespace nvcache::rocksdb::testing
