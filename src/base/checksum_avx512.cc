#define XXH_INLINE_ALL
#include "base/checksum_wide.h"
#include "xxhash.h"

#if defined(__AVX512F__)
namespace nvcache {

uint64_t xxh3_avx512(const void* data, size_t size_bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, size_bytes, seed);
}

}  // namespace nvcache
#endif
