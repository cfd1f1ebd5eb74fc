#include "base/sequence.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

TEST(Sequence, ALookIsBelievedOnlyIfNothingChangedMeanwhile) {
  Sequence sequence;
  const uint64_t before = sequence.now();
  EXPECT_TRUE(sequence.is_still(before));
  {
    const Sequence::Change change(sequence);
    EXPECT_FALSE(sequence.is_still(before));
    EXPECT_FALSE(sequence.is_still(sequence.now())) << "the look began during the change";
  }
  EXPECT_FALSE(sequence.is_still(before));
  EXPECT_TRUE(sequence.is_still(sequence.now()));
}

// Two words that change together: readers that believe what they saw never saw half a change.
TEST(Sequence, ReadersNeverBelieveHalfAChange) {
  Sequence sequence;
  std::atomic<uint64_t> first{0};
  std::atomic<uint64_t> second{0};
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint64_t i = 1; i <= 200'000; ++i) {
      const Sequence::Change change(sequence);
      first.store(i, std::memory_order_relaxed);
      second.store(i, std::memory_order_relaxed);
    }
    done = true;
  });
  uint64_t believed = 0;
  while (!done || believed == 0) {
    const uint64_t before = sequence.now();
    const uint64_t one = first.load(std::memory_order_relaxed);
    const uint64_t other = second.load(std::memory_order_relaxed);
    if (!sequence.is_still(before)) continue;
    ++believed;
    ASSERT_EQ(one, other);
  }
  writer.join();
}

}  // namespace
}  // namespace nvcache
