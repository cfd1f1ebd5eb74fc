// What a pool of buffers keeps, and how much.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "block_cache/aligned_buffer.h"

namespace nvcache {
namespace {

TEST(BufferPool, GivesBackWhatWasReleased) {
  BufferPool pool;
  MutableBuffer first = pool.take(5000);
  ASSERT_NE(first, nullptr);
  std::byte* const data = first->data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % AlignedBuffer::kLeastAlignmentBytes, 0u);
  const SharedBuffer shared = std::move(first);
  {
    const SharedBuffer other = shared;
    EXPECT_EQ(pool.kept_bytes(), 0u);
  }
  EXPECT_EQ(pool.kept_bytes(), 0u) << "one still has it";
  EXPECT_NE(pool.take(5000)->data(), data);
}

TEST(BufferPool, ABufferIsAtMostTwiceAsLarge) {
  BufferPool pool;
  std::byte* const data = pool.take(64 << 10)->data();
  EXPECT_EQ(pool.kept_bytes(), 64u << 10);
  EXPECT_NE(pool.take(16 << 10)->data(), data);
  EXPECT_NE(pool.take(128 << 10)->data(), data);
  EXPECT_EQ(pool.take(32 << 10)->data(), data);
  EXPECT_EQ(pool.take(64 << 10)->data(), data);
  const MutableBuffer sectors = pool.take(64 << 10, 16 << 10);
  EXPECT_NE(sectors->data(), data) << "aligned to less";
  EXPECT_EQ(reinterpret_cast<uintptr_t>(sectors->data()) % (16 << 10), 0u);
}

TEST(BufferPool, KeepsALimitedNumberAndLimitedBytes) {
  BufferPool pool;
  std::vector<MutableBuffer> taken;
  for (size_t i = 0; i < 100; ++i) taken.push_back(pool.take(4096));
  taken.clear();
  EXPECT_EQ(pool.kept_bytes(), BufferPool::kKept * 4096);
  for (size_t i = 0; i < 100; ++i) taken.push_back(pool.take(1 << 20));
  taken.clear();
  EXPECT_EQ(pool.kept_bytes(), BufferPool::kMostKeptBytes);
  (void)pool.take(BufferPool::kMostKeptBytes + 1);
  EXPECT_EQ(pool.kept_bytes(), BufferPool::kMostKeptBytes) << "too large to keep";
}

TEST(BufferPool, APinKeepsItsBuffer) {
  BufferPool pool;
  MutableBuffer buffer = pool.take(4096);
  const ByteView bytes(buffer->data(), 10);
  {
    const SharedBuffer shared = std::move(buffer);
    const Pin one = pin_buffer(shared, bytes);
    const Pin two = pin_buffer(shared, bytes);
    EXPECT_EQ(one.bytes().data(), bytes.data());
    EXPECT_EQ(pool.kept_bytes(), 0u);
  }
  EXPECT_EQ(pool.kept_bytes(), 4096u);
}

}  // namespace
}  // namespace nvcache
