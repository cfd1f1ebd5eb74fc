// The buffers that a pool keeps, and how many.
#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "block_cache/io/aligned_buffer.h"

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
  const size_t small_bytes = BufferPool::kSmall * 4096;
  EXPECT_EQ(pool.kept_bytes(), small_bytes);
  for (size_t i = 0; i < 100; ++i) taken.push_back(pool.take(BufferPool::kLargeBytes));
  taken.clear();
  const size_t large_bytes = BufferPool::kLarge * BufferPool::kLargeBytes;
  EXPECT_EQ(pool.kept_bytes(), small_bytes + large_bytes);
  (void)pool.take(BufferPool::kLargeBytes + 1);
  EXPECT_EQ(pool.kept_bytes(), small_bytes + large_bytes) << "too large to keep";
}

// Those of a size that is read no more make room.
TEST(BufferPool, TheSizeThatIsReadNowIsKept) {
  BufferPool pool;
  std::vector<MutableBuffer> taken;
  for (size_t i = 0; i < BufferPool::kSmall; ++i) taken.push_back(pool.take(4096));
  taken.clear();
  std::byte* const data = pool.take(16 << 10)->data();
  EXPECT_EQ(pool.take(16 << 10)->data(), data);
}

TEST(BufferPool, ThreadsShareNoBuffer) {
  static constexpr size_t kSizes[] = {4096, 8192, 20'000, 100'000, 700'000};
  BufferPool pool;
  std::vector<std::thread> threads;
  for (uint8_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&pool, thread] {
      std::vector<std::pair<MutableBuffer, size_t>> held;
      for (size_t step = 0; step < 20'000; ++step) {
        const size_t bytes = kSizes[(step * thread) % 5];
        MutableBuffer buffer = pool.take(bytes);
        ASSERT_NE(buffer, nullptr);
        buffer->data()[0] = buffer->data()[bytes - 1] = std::byte{thread};
        held.emplace_back(std::move(buffer), bytes);
        if (held.size() < 1 + step % 5) continue;
        for (const auto& [each, size] : held) {
          ASSERT_EQ(each->data()[0], std::byte{thread});
          ASSERT_EQ(each->data()[size - 1], std::byte{thread});
        }
        held.clear();
      }
    });
  }
  for (std::thread& each : threads) each.join();
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
