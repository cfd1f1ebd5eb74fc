// The only file that is compiled for AVX2. It includes nothing that another file might share: an
// inline function of it would run on processors without.
#include "base/xxh3_avx2.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace nvcache {

uint64_t xxh3_avx2(const void* bytes, size_t size, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, size, seed);
}

}  // namespace nvcache
