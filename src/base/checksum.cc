#define XXH_INLINE_ALL
#include "base/checksum_wide.h"
#include "base/hash.h"
#include "xxhash.h"

namespace nvcache {
namespace {

using Hash = uint64_t (*)(const void* data, size_t size_bytes, uint64_t seed);

uint64_t xxh3_baseline(const void* data, size_t size_bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, size_bytes, seed);
}

Hash choose() {
#if defined(NVCACHE_CHECKSUM_WIDE)
  if (__builtin_cpu_supports("avx512f")) return xxh3_avx512;
  if (__builtin_cpu_supports("avx2")) return xxh3_avx2;
#endif
  return xxh3_baseline;
}

const Hash xxh3 = choose();

}  // namespace

uint64_t hash_bytes(std::string_view bytes) { return xxh3(bytes.data(), bytes.size(), 0); }

uint32_t checksum_block(const BlockKey& key, ByteView block) {
  return static_cast<uint32_t>(xxh3(block.data(), block.size(), hash_key(key, 0)));
}

}  // namespace nvcache
