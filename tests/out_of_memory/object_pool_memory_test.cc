// The memory of the first tier's pool of entries, by their number.
#include "gtest/gtest.h"
#include "support/failing_allocator.h"
#include "tiered_cache/object_pool.h"

namespace nvcache {
namespace {

uint64_t bytes_for(size_t entries) {
  ObjectPool pool;
  const uint64_t before = test::allocated_bytes();
  for (size_t i = 0; i < entries; ++i) {
    // It stays in the pool, which frees it with itself.
    EXPECT_NE(pool.make("key", i, {}, Priority::kLow, /*metadata=*/false), nullptr);
  }
  return test::allocated_bytes() - before;
}

TEST(ObjectPoolMemory, GrowsWithItsEntries) {
  constexpr size_t kEntries = 256 << 10;
  const uint64_t once = bytes_for(kEntries);
  EXPECT_GE(once, kEntries * sizeof(ObjectEntry));
  EXPECT_LE(once, kEntries * sizeof(ObjectEntry) * 11 / 10);
  EXPECT_LE(bytes_for(2 * kEntries), once * 21 / 10);
}

}  // namespace
}  // namespace nvcache
