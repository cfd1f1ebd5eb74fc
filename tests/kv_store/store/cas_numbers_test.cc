#include "kv_store/store/cas_numbers.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

TEST(CasNumbersTest, BlocksGrowWithWhatWasGiven) {
  CasNumbers numbers;
  numbers.start(100, 110);
  int blocks = 0;
  uint64_t reserved = 110;
  for (uint64_t expected = 101; expected <= 1'000'000; ++expected) {
    ASSERT_EQ(numbers.next([&](uint64_t up_to) {
      ++blocks;
      EXPECT_LE(up_to - reserved, reserved - 100) << "as much again";
      reserved = up_to;
    }),
              expected);
    ASSERT_LE(expected, reserved);
  }
  EXPECT_LE(blocks, 20);
  EXPECT_EQ(numbers.given(), 1'000'000u);
}

// While one thread waits for the medium, the numbers that are left serve the others.
TEST(CasNumbersTest, ABlockIsReservedBeforeTheOneBeforeItEnds) {
  CasNumbers numbers;
  numbers.start(0, 80);
  const auto none = [](uint64_t) { ADD_FAILURE() << "a block is being reserved"; };
  int blocks = 0;
  for (uint64_t expected = 1; expected <= 71; ++expected) {
    const uint64_t number = numbers.next([&](uint64_t up_to) {
      ++blocks;
      EXPECT_EQ(up_to, 150u);
      for (uint64_t other = 72; other <= 80; ++other) EXPECT_EQ(numbers.next(none), other);
    });
    ASSERT_EQ(number, expected);
  }
  EXPECT_EQ(blocks, 1);
  EXPECT_EQ(numbers.next(none), 81u);
}

TEST(CasNumbersTest, ThreadsGetDifferentNumbersAllReservedBefore) {
  constexpr int kThreads = 4;
  constexpr uint64_t kEach = 20'000;
  CasNumbers numbers;
  numbers.start(0, 4);
  std::atomic<uint64_t> reserved{4};
  std::vector<std::atomic<bool>> seen(kThreads * kEach + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t n = 0; n < kEach; ++n) {
        const uint64_t number = numbers.next([&](uint64_t up_to) { reserved = up_to; });
        EXPECT_LE(number, reserved);
        EXPECT_FALSE(seen.at(number).exchange(true));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(numbers.given(), kThreads * kEach);
}

}  // namespace
}  // namespace nvcache
