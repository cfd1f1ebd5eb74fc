// Who goes first when the memory of all connections is used up.
#include "apps/nvcached/net/pace.h"

#include <gtest/gtest.h>

namespace nvcache::server {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// After so many seconds, in each of which it moved so much.
Pace after(int seconds, uint64_t bytes_per_second, Pace pace = {}) {
  for (int i = 0; i < seconds; ++i) {
    pace.move(bytes_per_second);
    pace.end_second();
  }
  return pace;
}

TEST(Pace, WhatIsNotHeldCostsNothing) {
  EXPECT_EQ(Pace().cost(0), 0);
  EXPECT_GT(Pace().cost(1), 0);
}

TEST(Pace, TheSlowerTheMore) {
  // None, a byte a second, stopped a minute ago, stopped ten seconds ago, new, slow, fast.
  const Pace order[] = {Pace(),
                        after(60, 1),
                        after(60, 0, after(1, kMiB)),
                        after(10, 0, after(1, kMiB / 8)),
                        after(1, kMiB / 8),
                        after(30, kMiB / 8),
                        after(30, 10 * kMiB)};
  for (size_t i = 1; i < std::size(order); ++i) {
    EXPECT_GT(order[i - 1].cost(kMiB), order[i].cost(kMiB)) << i;
  }
}

TEST(Pace, TheMoreHeldTheMore) {
  const Pace one = after(5, 1000);
  EXPECT_NEAR(one.cost(2 * kMiB), 4 * one.cost(kMiB), 1);
}

// As a client whose machine was busy: others that never moved go before it for long.
TEST(Pace, APauseOfSecondsCountsForLittle) {
  const Pace paused = after(5, 0, after(30, 5 * kMiB));
  EXPECT_LT(paused.cost(kMiB) * 1000, after(60, 1).cost(kMiB));
  EXPECT_LT(paused.cost(kMiB) * 10, after(5, 0, after(1, kMiB / 8)).cost(kMiB));
}

TEST(Pace, IsThatOfASteadyClient) {
  EXPECT_NEAR(after(60, kMiB).seconds_for(kMiB), 1, 0.2);
  EXPECT_GT(after(60, 0).seconds_for(kMiB), 1e6);
}

TEST(Pace, StandsStillAfterTwoSecondsWithoutAByte) {
  EXPECT_FALSE(Pace().stands_still());
  EXPECT_FALSE(after(1, 0, after(3, 1)).stands_still());
  EXPECT_TRUE(after(2, 0, after(3, 1)).stands_still());
  EXPECT_FALSE(after(1, 1, after(9, 0)).stands_still());
}

}  // namespace
}  // namespace nvcache::server
