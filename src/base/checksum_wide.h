// XXH3 compiled for wider registers: the same results in less time. Call each only on a
// processor that has what its name says. Their sources include no header of nvcache: the linker
// could otherwise choose their copy of an inline function for processors without such registers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvcache {
uint64_t xxh3_avx2(const void* data, size_t size_bytes, uint64_t seed);
uint64_t xxh3_avx512(const void* data, size_t size_bytes, uint64_t seed);
}  // namespace nvcache
