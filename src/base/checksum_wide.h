// XXH3 compiled for wider registers: the same results in less time. Call each only where the
// processor has what its name says. Their sources include nothing of ours: an inline function
// that such a compilation shared with others could bring its instructions to where there are
// none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvcache {
uint64_t xxh3_avx2(const void* data, size_t size_bytes, uint64_t seed);
uint64_t xxh3_avx512(const void* data, size_t size_bytes, uint64_t seed);
}  // namespace nvcache
