// Hashes of the keys of a tiered cache. A key is any bytes; only keys of 16 bytes name blocks
// that can be in lower tiers (base/key_bytes.h parses those).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "base/key_bytes.h"
#include "nvcache/block_key.h"

namespace nvcache {

inline uint64_t hash_block_key(const BlockKey& key) { return hash_key(key, /*seed=*/0); }

inline uint64_t hash_object_key(std::string_view key) {
  BlockKey block_key;
  if (parse_block_key(key, &block_key)) return hash_block_key(block_key);
  return hash_bytes(key);
}

}  // namespace nvcache
