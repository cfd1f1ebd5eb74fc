// RocksDB's block cache values as objects of a TieredCache.
//
// RocksDB describes a value by a CacheItemHelper: how large it is, how to save it, how to
// destroy it. The word of an ObjectKind holds the helper. (RocksDB 7 also has values with a
// deleter alone; the word then holds the deleter, and the value is not movable.)
// Stateless but for the allocator; thread-safe, no locks.
#pragma once

#include <memory>
#include <string_view>

#include "adapters/rocksdb/key.h"
#include "adapters/rocksdb/versions.h"
#include "nvcache/tiered_cache.h"
#include "rocksdb/memory_allocator.h"
#include "rocksdb/slice.h"

namespace nvcache::rocksdb {

inline std::string_view view(const ::rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
inline ::rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// Only for kinds of kind_of(); with RocksDB 7, only for movable ones.
inline const ::rocksdb::Cache::CacheItemHelper* helper_in(ObjectKind kind) {
  return reinterpret_cast<const ::rocksdb::Cache::CacheItemHelper*>(kind.word);
}

// A value is movable if its helper can save it.
ObjectKind kind_of(const ::rocksdb::Cache::CacheItemHelper* helper, const void* value);

// The same, but not movable.
ObjectKind kept_in_dram(ObjectKind kind);

#if NVCACHE_ROCKSDB_7
ObjectKind kind_of(::rocksdb::Cache::DeleterFn deleter);
::rocksdb::Cache::DeleterFn deleter_of(ObjectKind kind);
#endif

// Saves and destroys RocksDB's values. `allocator`, which may be null, is where RocksDB puts
// its blocks. `form`: of the version that saves them, where it is not that of the headers.
std::shared_ptr<ObjectCodec> make_codec(std::shared_ptr<::rocksdb::MemoryAllocator> allocator,
                                        uint64_t form = static_cast<uint64_t>(Form::kParsed));

}  // namespace nvcache::rocksdb
