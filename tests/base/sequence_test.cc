#include "base/sequence.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"
#include "support/weak_memory.h"

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

// Its model, for processors whose order is weaker than that of this one.
struct SequenceLock {
  std::memory_order begin = std::memory_order::release;  // a fence
  std::memory_order end = std::memory_order::release;
  std::memory_order now = std::memory_order::acquire;
  std::memory_order is_still = std::memory_order::acquire;  // a fence
  enum { kNumber, kOne, kOther };
  bool right = true;

  test::WeakMemory::Thread writer(test::WeakMemory& m) {
    co_await m.store(kNumber, 1, std::memory_order::relaxed);
    co_await m.fence(begin);
    co_await m.store(kOne, 1, std::memory_order::relaxed);
    co_await m.store(kOther, 1, std::memory_order::relaxed);
    co_await m.store(kNumber, 2, end);
  }
  test::WeakMemory::Thread reader(test::WeakMemory& m) {
    const uint64_t before = co_await m.load(kNumber, now);
    const uint64_t one = co_await m.load(kOne, std::memory_order::relaxed);
    const uint64_t other = co_await m.load(kOther, std::memory_order::relaxed);
    co_await m.fence(is_still);
    const uint64_t after = co_await m.load(kNumber, std::memory_order::relaxed);
    right = before % 2 != 0 || after != before || one == other;
  }
  void start(test::WeakMemory& m) { m.run({writer(m), reader(m)}); }
  bool is_right() const { return right; }
};

TEST(Sequence, ALookThatASequenceBelievesSawAllOfAChangeOrNothing) {
  EXPECT_TRUE(test::always_right(SequenceLock{}));
  EXPECT_FALSE(test::always_right(SequenceLock{.begin = std::memory_order::relaxed}));
  EXPECT_FALSE(test::always_right(SequenceLock{.end = std::memory_order::relaxed}));
  EXPECT_FALSE(test::always_right(SequenceLock{.now = std::memory_order::relaxed}));
  EXPECT_FALSE(test::always_right(SequenceLock{.is_still = std::memory_order::relaxed}));
}

}  // namespace
}  // namespace nvcache
