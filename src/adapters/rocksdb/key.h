// RocksDB's cache keys as nvcache's block keys.
//
// RocksDB names a block by 16 bytes that stay the same when the database is reopened: 8
// that all blocks of a file share, and 8 for the offset. A block never changes under its
// key, so puts need no miss token, and a cache may come back after a restart
// (adapters/rocksdb/restart_settings.h).
#pragma once

#include <cstdint>

#include "adapters/rocksdb/versions.h"
#include "base/key_bytes.h"
#include "base/prng.h"
#include "nvcache/block_key.h"
#include "rocksdb/slice.h"
#include "rocksdb/version.h"

namespace nvcache::rocksdb {

// The form of the bytes under a key. RocksDB uses one key for both forms of a block, so a cache
// behind both plug points has to tell them apart. No version of RocksDB promises to read
// the bytes that another saved, so each has parsed blocks of its own; raw ones are the file's own
// bytes.
constexpr uint64_t form_of_version(uint32_t major, uint32_t minor) {
  return mix64(uint64_t{major} << 32 | minor);
}
enum class Form : uint64_t {
  // Uncompressed: of a TieredCache, and of a SecondaryCache under RocksDB 7.
  kParsed = form_of_version(ROCKSDB_MAJOR, ROCKSDB_MINOR),
  // Of a SecondaryCache from RocksDB 8 on: the last byte says how the others are compressed.
  kTyped = mix64(kParsed),
  kRaw = 0x9e3779b97f4a7c15ULL,  // as on disk, from a PersistentCache: an arbitrary odd constant
};

inline constexpr Form kForms[] = {Form::kParsed, Form::kTyped, Form::kRaw};

// The form that a SecondaryCache stores, and the bytes that it adds to a block.
inline constexpr Form kSecondaryForm = NVCACHE_ROCKSDB_7 ? Form::kParsed : Form::kTyped;
inline constexpr uint32_t kTypeBytes = kSecondaryForm == Form::kTyped ? 1 : 0;

// False if `slice` is not a RocksDB cache key, or one that is unique only as long as the process
// lives: the first 8 bytes of those are 0 (CacheKey::CreateUniqueForCacheLifetime).
inline bool parse_key(const ::rocksdb::Slice& slice, Form form, BlockKey* key) {
  if (!parse_block_key({slice.data(), slice.size()}, key) || key->file == 0) return false;
  key->file ^= static_cast<uint64_t>(form);
  return true;
}

}  // namespace nvcache::rocksdb
