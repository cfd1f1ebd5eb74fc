// XXH3 by AVX2. The results are those of every other XXH3.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvcache {

// The hash of more than 240 bytes: for fewer, XXH3 has no use for wide registers.
// Thread-safe. The processor must have AVX2.
uint64_t xxh3_avx2(const void* bytes, size_t size, uint64_t seed);

}  // namespace nvcache
