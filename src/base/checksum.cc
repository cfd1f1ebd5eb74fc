#include "base/hash.h"
// XXH3, by the widest registers that the processor has: the results are the same.
#if defined(NVCACHE_XXHASH_DISPATCHES)
#include "xxh_x86dispatch.h"
#else
#define XXH_INLINE_ALL
#include "xxhash.h"
#endif

namespace nvcache {

uint64_t hash_bytes(std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), 0);
}

uint32_t checksum_block(const BlockKey& key, ByteView block) {
  return static_cast<uint32_t>(XXH3_64bits_withSeed(block.data(), block.size(), hash_key(key, 0)));
}

}  // namespace nvcache
