#include "base/reserved_array.h"

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

constexpr size_t kPageBytes = 4096;

bool is_resident(std::byte* page) {
  unsigned char state = 0;
  EXPECT_EQ(mincore(page, kPageBytes, &state), 0);
  return (state & 1) != 0;
}

TEST(ReservedArray, TakesTheMemoryOfAPartThatBeginsAndEndsWithinPages) {
  ReservedArray<std::byte> bytes(8 * kPageBytes);
#ifdef MADV_POPULATE_WRITE
  if (madvise(&bytes[7 * kPageBytes], kPageBytes, MADV_POPULATE_WRITE) != 0) {
    GTEST_SKIP() << "this Linux takes memory only where it is touched";
  }
#else
  GTEST_SKIP() << "built where memory is taken only where it is touched";
#endif
  populate_reserved(&bytes[kPageBytes + 100], 2 * kPageBytes);
  const std::array<bool, 6> wanted = {false, true, true, true, false, false};
  for (size_t page = 0; page < wanted.size(); ++page) {
    EXPECT_EQ(is_resident(&bytes[page * kPageBytes]), wanted[page]) << page;
  }
}

TEST(ReservedArray, ReadsAsZerosAtFirstAndOnceItWasGivenBack) {
  for (const Pages pages : {Pages::kUsual, Pages::kHuge, Pages::kHugeIfLarge}) {
    ReservedArray<uint8_t> bytes(2 * kHugePageBytes, pages);
    EXPECT_EQ(bytes[kHugePageBytes], 0);
    bytes[kHugePageBytes] = 1;
    bytes[0] = 2;
    discard_reserved(&bytes[kHugePageBytes], kPageBytes);
    EXPECT_EQ(bytes[kHugePageBytes], 0);
    EXPECT_EQ(bytes[0], 2);
  }
}

}  // namespace
}  // namespace nvcache
