// XXH3 compiled for AVX2: the same results in a third of the time. Call it only where the
// processor has AVX2. Its source includes nothing of ours: an inline function that this
// compilation shared with others could bring AVX2 to where there is none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvcache {
uint64_t xxh3_avx2(const void* data, size_t size_bytes, uint64_t seed);
}  // namespace nvcache
