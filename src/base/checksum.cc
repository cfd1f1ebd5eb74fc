#include "base/hash.h"

#define XXH_INLINE_ALL
#include "xxhash.h"
#if defined(__x86_64__)
#include "base/xxh3_avx2.h"
#endif

namespace nvcache {
namespace {

// XXH3, by the widest registers that the processor has: the results are the same.
uint64_t xxh3(const void* bytes, size_t size, uint64_t seed) {
#if defined(__x86_64__)
  constexpr size_t kScalarBytes = 240;
  if (size > kScalarBytes && __builtin_cpu_supports("avx2")) return xxh3_avx2(bytes, size, seed);
#endif
  return XXH3_64bits_withSeed(bytes, size, seed);
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes) { return xxh3(bytes.data(), bytes.size(), 0); }

uint32_t checksum_block(const BlockKey& key, ByteView block) {
  return static_cast<uint32_t>(xxh3(block.data(), block.size(), hash_key(key, 0)));
}

}  // namespace nvcache
