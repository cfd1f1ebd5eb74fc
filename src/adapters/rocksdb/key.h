// RocksDB's cache keys as nvcache's block keys.
//
// RocksDB names a block by 16 bytes that stay the same when the database is
// reopened: 8 that all blocks of one file share, then 8 that hold the offset.
// Blocks never change under their key, so puts need no miss token.
#pragma once

#include <cstdint>
#include <cstring>

#include "nvcache/block_key.h"
#include "rocksdb/slice.h"

namespace nvcache::rocksdb {

inline constexpr size_t kKeyBytes = 16;

// What is stored under a key. RocksDB uses one key for both forms of a block, so
// that a cache behind both plug points has to keep them apart itself.
enum class Form : uint64_t {
  kParsed = 0,                   // uncompressed, from a SecondaryCache
  kRaw = 0x9e3779b97f4a7c15ULL,  // as on disk, from a PersistentCache: an arbitrary odd constant
};

// False if `slice` is not a RocksDB cache key.
inline bool parse_key(const ::rocksdb::Slice& slice, Form form, BlockKey* key) {
  if (slice.size() != kKeyBytes) return false;
  std::memcpy(&key->file, slice.data(), sizeof key->file);
  std::memcpy(&key->offset, slice.data() + sizeof key->file, sizeof key->offset);
  key->file ^= static_cast<uint64_t>(form);
  return true;
}

}  // namespace nvcache::rocksdb
