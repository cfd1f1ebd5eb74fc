// Hashes of block keys and checksums of block contents.
#pragma once

#include <cstdint>
#include <string_view>

#include "nvcache/block_key.h"
#include "nvcache/bytes.h"

namespace nvcache {

// 64 bits of a 128-bit product, both halves mixed.
inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// 64 well-mixed bits of a key, in seven instructions: every lookup begins with it.
// Each `seed` makes another function: keys that collide under one seed do not under
// another.
inline uint64_t hash_key(const BlockKey& key, uint64_t seed) {
  constexpr uint64_t kFirst = 0x9e3779b97f4a7c15ull;
  constexpr uint64_t kSecond = 0xd1b54a32d192ed03ull;
  return fold_multiply(fold_multiply(key.file ^ kFirst ^ seed, key.offset ^ kSecond) ^ kFirst,
                       kSecond ^ seed);
}

// Which of `parts` even parts of all hashes a hash is in.
inline uint64_t part_of(uint64_t hash, uint64_t parts) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * parts) >> 64);
}

// 64 bits of any bytes (XXH3).
uint64_t hash_bytes(std::string_view bytes);

// 32-bit checksum of a block, bound to its key: a block found under a wrong
// key fails it. XXH3, with AVX2 where the processor has it, runs at memory speed; one
// random error in 2^32 passes.
uint32_t checksum_block(const BlockKey& key, ByteView block);

}  // namespace nvcache
