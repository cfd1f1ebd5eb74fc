// Scores of uses, and the table of those of absent blocks.
#include "policy/learning/score_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/prng.h"
#include "policy/learning/use_score.h"

namespace nvcache {
namespace {

TEST(UseScore, AUseCountsHalfAfterAHalfLife) {
  const uint32_t old = UseScore::once(100);
  const uint32_t now = 100 + UseScore::kStepsPerHalfLife;
  EXPECT_EQ(UseScore::lead(old, 100), 0);
  EXPECT_EQ(UseScore::lead(old, now), -UseScore::kStepsPerHalfLife);
  // 1/2 + 1/2 + 1 uses are twice one use.
  const uint32_t twice_old = UseScore::used(old, 100, 0);
  EXPECT_EQ(UseScore::lead(twice_old, 100), UseScore::kStepsPerHalfLife);
  EXPECT_EQ(UseScore::lead(UseScore::used(twice_old, now, 0), now), UseScore::kStepsPerHalfLife);
}

// The mean over the noise is the sum of LRFU, for any number of uses at any times.
TEST(UseScore, FollowsTheSumOfItsUses) {
  Prng random(4);
  for (const uint64_t pause : {0, 1, 3, 8, 20}) {
    double sum = 0;
    double error = 0;
    constexpr int kBlocks = 400;
    for (int block = 0; block < kBlocks; ++block) {
      uint32_t now = static_cast<uint32_t>(random());
      uint32_t score = UseScore::once(now);
      sum = 1;
      for (int use = 0; use < 60; ++use) {
        now += static_cast<uint32_t>(pause);
        sum = sum * std::exp2(-static_cast<double>(pause) / UseScore::kStepsPerHalfLife) + 1;
        score = UseScore::used(score, now, static_cast<uint32_t>(random()));
      }
      error += UseScore::lead(score, now) - UseScore::kStepsPerHalfLife * std::log2(sum);
    }
    EXPECT_NEAR(error / kBlocks, 0, 1) << "a use each " << pause << " steps, sum " << sum;
  }
}

TEST(UseScore, NeverWrapsAroundIfItIsAged) {
  uint32_t score = UseScore::once(0);
  for (uint32_t now = 0; now < 10'000; now += UseScore::kAgeSteps) {
    score = UseScore::age(score, now);
    ASSERT_LE(UseScore::lead(score, now), 0) << now;
    ASSERT_LT(UseScore::lead(score, now + UseScore::kAgeSteps - 1), 0) << now;
  }
  for (int use = 0; use < 5000; ++use) score = UseScore::used(score, 77, 255);
  EXPECT_EQ(UseScore::lead(score, 77), UseScore::kHighest);
}

TEST(ScoreTable, RemembersUsesUntilTheBlockIsTaken) {
  ScoreTable table(1000);
  EXPECT_EQ(table.score(5), std::nullopt);
  EXPECT_EQ(UseScore::lead(table.use(5, 9, 0), 9), 0);
  EXPECT_EQ(UseScore::lead(table.use(5, 9, 0), 9), UseScore::kStepsPerHalfLife);
  EXPECT_EQ(table.take(5), table.score(5).value_or(UseScore::at_lead(4, 9)));
  EXPECT_EQ(table.score(5), std::nullopt);
  table.put(5, UseScore::at_lead(7, 9), 9);
  table.put(5, UseScore::at_lead(3, 9), 9);  // what is there is higher
  EXPECT_EQ(UseScore::lead(*table.score(5), 9), 7);
}

TEST(ScoreTable, KeepsTheBlocksOfHighScoreWhenItIsFull) {
  constexpr uint64_t kGood = 200;
  ScoreTable table(2048);
  while (table.entries() < 2048) table.follow(2048);
  for (uint64_t key = 0; key < kGood; ++key) table.put(key, UseScore::at_lead(20, 0), 0);
  for (uint64_t key = kGood; key < 20'000; ++key) table.use(key, 1, 0);
  uint64_t kept = 0;
  for (uint64_t key = 0; key < kGood; ++key) kept += table.score(key).has_value() ? 1 : 0;
  EXPECT_GE(kept, kGood * 95 / 100);
}

TEST(ScoreTable, ForgetsLittleWhileItGrows) {
  constexpr uint64_t kKeys = 1000;
  ScoreTable table(1 << 16);
  for (uint64_t key = 0; key < kKeys; ++key) {
    table.put(key, UseScore::at_lead(static_cast<int>(key % 20), 0), 0);
    table.follow(8 * key);
  }
  const uint64_t before = table.entries();
  for (int i = 0; i < 10'000; ++i) table.follow(1 << 16);
  EXPECT_GT(table.entries(), 2 * before);
  EXPECT_LE(table.entries(), uint64_t{1} << 16);
  uint64_t kept = 0;
  for (uint64_t key = 0; key < kKeys; ++key) {
    const auto score = table.score(key);
    kept += score.has_value() && UseScore::lead(*score, 0) == static_cast<int>(key % 20) ? 1 : 0;
  }
  EXPECT_GE(kept, kKeys * 9 / 10) << "what was copied for nothing takes room, too";
}

TEST(ScoreTable, AgesEveryEntry) {
  ScoreTable table(512);
  while (table.entries() < 512) table.follow(512);
  for (uint64_t key = 0; key < 100; ++key) table.put(key, UseScore::once(0), 0);
  for (uint32_t now = 0; now <= 1000; now += UseScore::kAgeSteps / 2) {
    uint64_t bucket = 0;
    while (table.age(&bucket, 7, now)) {
    }
    for (uint64_t key = 0; key < 100; ++key) {
      const auto score = table.score(key);
      ASSERT_LE(score ? UseScore::lead(*score, now) : 0, 0) << "key " << key << " at " << now;
    }
  }
}

}  // namespace
}  // namespace nvcache
