// The table of fingerprints that second_touch and s3fifo use.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/prng.h"
#include "policy/parts/ghost.h"

namespace nvcache {
namespace {

TEST(GhostPolicyTable, RemembersWhatItWasTold) {
  Ghost ghost(10'000);
  EXPECT_FALSE(ghost.contains(7));
  EXPECT_FALSE(ghost.remember(7));
  EXPECT_TRUE(ghost.contains(7));
  EXPECT_TRUE(ghost.remember(7));
}

TEST(GhostPolicyTable, ForgetsTheOldestFirst) {
  Ghost ghost(Ghost::kMinEntries);
  for (uint64_t key = 0; key < 3 * Ghost::kMinEntries; ++key) ghost.remember(key);
  uint64_t young = 0;
  uint64_t old = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    young += ghost.contains(3 * Ghost::kMinEntries - 1 - i) ? 1 : 0;
    old += ghost.contains(i) ? 1 : 0;
  }
  EXPECT_EQ(young, 100u);
  EXPECT_LT(old, 5u);
}

TEST(GhostPolicyTable, SeldomTakesAStrangerForAFriend) {
  Ghost ghost(100'000);
  for (int i = 0; i < 100; ++i) ghost.follow(100'000);
  for (uint64_t key = 0; key < 100'000; ++key) ghost.remember(key);
  uint64_t mistaken = 0;
  for (uint64_t key = 1'000'000; key < 1'100'000; ++key) mistaken += ghost.contains(key) ? 1 : 0;
  EXPECT_LT(mistaken, 40u);  // 8 / 65535 of 100,000 is 12
}

TEST(GhostPolicyTable, GrowsInStepsAndShrinksBelowHalf) {
  Ghost ghost(1'000'000);
  EXPECT_EQ(ghost.entries(), Ghost::kMinEntries);
  ghost.follow(1'000'000);
  EXPECT_LT(ghost.entries(), 10'000u) << "one call does not do it all";
  for (int i = 0; i < 1000; ++i) ghost.follow(1'000'000);
  EXPECT_EQ(ghost.entries(), 1'000'000u);
  EXPECT_EQ(ghost.metadata_bytes(), 2'000'000u);
  ghost.follow(600'000);
  EXPECT_EQ(ghost.entries(), 1'000'000u);
  ghost.follow(400'000);
  EXPECT_EQ(ghost.entries(), 400'000u);
  EXPECT_EQ(ghost.metadata_bytes(), 2'000'000u) << "pages once touched stay";
  ghost.follow(0);
  EXPECT_EQ(ghost.entries(), Ghost::kMinEntries);
  for (int i = 0; i < 1000; ++i) ghost.follow(~uint64_t{0});
  EXPECT_EQ(ghost.entries(), 1'000'000u) << "no further than was reserved";
}

TEST(GhostPolicyTable, IsSafeFromManyThreadsWhileItIsResized) {
  Ghost ghost(1 << 16);
  const auto work = [&](uint64_t seed) {
    Prng prng(seed);
    for (int i = 0; i < 20'000; ++i) {
      const uint64_t key = prng.below(50'000);
      ghost.remember(key);
      if (i % 8 == 0) ghost.follow(prng.below(1 << 16));
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  ghost.remember(1);
  EXPECT_TRUE(ghost.contains(1));
}

}  // namespace
}  // namespace nvcache
