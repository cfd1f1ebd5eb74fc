// Keys of a tiered cache: any bytes, of which those of 16 bytes name blocks that may lie
// in lower tiers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "nvcache/block_key.h"

namespace nvcache {

inline constexpr size_t kBlockKeyBytes = 16;

inline bool parse_block_key(std::string_view key, BlockKey* block_key) {
  if (key.size() != kBlockKeyBytes) return false;
  std::memcpy(&block_key->file, key.data(), 8);
  std::memcpy(&block_key->offset, key.data() + 8, 8);
  return true;
}

inline uint64_t hash_block_key(const BlockKey& key) { return hash_key(key, /*seed=*/0); }

inline uint64_t hash_object_key(std::string_view key) {
  BlockKey block_key;
  if (parse_block_key(key, &block_key)) return hash_block_key(block_key);
  return hash_bytes(key);
}

}  // namespace nvcache
