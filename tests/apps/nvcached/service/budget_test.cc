#include "apps/nvcached/service/budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace nvcache::server {
namespace {

TEST(Budget, KeepsItsReserveAndThenTheLastPart) {
  Budget budget(80, 8);
  EXPECT_FALSE(budget.take(73));
  EXPECT_TRUE(budget.take(72));
  EXPECT_FALSE(budget.take(1));
  EXPECT_FALSE(budget.take_of_reserve(7));
  EXPECT_TRUE(budget.take_of_reserve(6));
  EXPECT_FALSE(budget.take_of_reserve(1));
  EXPECT_FALSE(budget.take_last(3));
  EXPECT_TRUE(budget.take_last(2));
  EXPECT_EQ(budget.used(), 80u);
  EXPECT_FALSE(budget.take_last(1));
  EXPECT_TRUE(budget.take_last(0));
  budget.give(80);
  EXPECT_TRUE(budget.take(1));
}

TEST(Budget, RefusesWhatWouldOverflow) {
  Budget budget(80, 8);
  ASSERT_TRUE(budget.take(50));
  EXPECT_FALSE(budget.take_last(UINT64_MAX));
  EXPECT_FALSE(budget.take(UINT64_MAX - 40));
  EXPECT_EQ(budget.used(), 50u);
}

// A look never finds more than there is, and a refusal takes nothing from others, not even
// for a moment.
TEST(Budget, IsNeverExceeded) {
  constexpr int kThreads = 3;
  constexpr int kTakes = 100'000;
  Budget budget(10);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> takers;
  for (int i = 0; i < kThreads; ++i) {
    takers.emplace_back([&] {
      for (int take = 0; take < kTakes; ++take) {
        if (budget.take(5)) budget.give(5);
        EXPECT_FALSE(budget.take(11));
      }
      --running;
    });
  }
  uint64_t most = 0;
  while (running > 0) most = std::max(most, budget.used());
  for (std::thread& each : takers) each.join();
  EXPECT_LE(most, 10u);
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace nvcache::server
