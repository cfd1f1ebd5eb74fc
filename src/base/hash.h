// Hashes of block keys and checksums of block contents.
#pragma once

#include <cstdint>

#define XXH_INLINE_ALL
#include "nvcache/block_key.h"
#include "nvcache/bytes.h"
#include "xxhash.h"

namespace nvcache {

// 64 well-mixed bits of a key. `seed` keeps chosen keys from colliding on purpose.
inline uint64_t hash_key(const BlockKey& key, uint64_t seed) {
  return XXH3_64bits_withSeed(&key, sizeof key, seed);
}

// 32-bit checksum of a block, bound to its key: a block found under a wrong
// key fails it. XXH3 runs at memory speed; one random error in 2^32 passes.
inline uint32_t checksum_block(const BlockKey& key, ByteView block) {
  return static_cast<uint32_t>(
      XXH3_64bits_withSeed(block.data(), block.size(), hash_key(key, 0)));
}

}  // namespace nvcache
