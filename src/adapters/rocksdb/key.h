// RocksDB's cache keys as nvcache's block keys.
//
// RocksDB names a block by 16 bytes that stay the same when the database is reopened: 8
// that all blocks of a file share, and 8 for the offset. A block never changes under its
// key, so puts need no miss token.
#pragma once

#include <cstdint>

#include "base/key_bytes.h"
#include "nvcache/block_key.h"
#include "rocksdb/slice.h"

namespace nvcache::rocksdb {

// What is stored under a key. RocksDB uses one key for both forms of a block, so a cache
// behind both plug points has to tell them apart.
enum class Form : uint64_t {
  kParsed = 0,                   // uncompressed, from a SecondaryCache
  kRaw = 0x9e3779b97f4a7c15ULL,  // as on disk, from a PersistentCache: an arbitrary odd constant
};

// False if `slice` is not a RocksDB cache key, or one for the life of a cache or a process, which
// begins with 8 zeros (cache/cache_key.cc): after a restart that names something else.
inline bool parse_key(const ::rocksdb::Slice& slice, Form form, BlockKey* key) {
  if (!parse_block_key({slice.data(), slice.size()}, key) || key->file == 0) return false;
  key->file ^= static_cast<uint64_t>(form);
  return true;
}

}  // namespace nvcache::rocksdb
