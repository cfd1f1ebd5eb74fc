// When uses pass for others than before, and when not.
#include "policy/learning/phase_detector.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace nvcache {
namespace {

class PhaseDetectorTest : public testing::Test {
 protected:
  static constexpr uint32_t kKeys = 200;

  // Uses of a cache that has the keys below kKeys for good: after how many the watch tells. 0: not
  // within `most`.
  template <typename Next>
  uint64_t told_after(uint64_t most, Next&& next) {
    for (uint64_t i = 0; i < most; ++i) {
      const uint32_t key = next(i);
      if (watch_.use(static_cast<uint32_t>(mix64(key)), key < kKeys)) return i + 1;
    }
    return 0;
  }
  uint32_t below(uint32_t most) { return static_cast<uint32_t>(random_.below(most)); }
  // The cache has what is used.
  void be_used() {
    EXPECT_EQ(told_after(100 * kKeys, [this](uint64_t) { return below(kKeys); }), 0u);
  }

  Prng random_{1};
  PhaseDetector watch_{kKeys};
};

TEST_F(PhaseDetectorTest, TellsOfANewSetOnce) {
  be_used();
  const auto next = [this](uint64_t) { return 1000 + below(kKeys * 8 / 10); };
  const uint64_t uses = told_after(10 * kKeys, next);
  EXPECT_GT(uses, 0u);
  EXPECT_LT(uses, kKeys);
  EXPECT_EQ(told_after(2 * kKeys, next), 0u) << "the cache may follow first";
  EXPECT_GT(told_after(10 * kKeys, next), 0u) << "if it has not followed";
}

TEST_F(PhaseDetectorTest, AScanIsNoPhase) {
  be_used();
  const auto scan = [](uint64_t i) { return static_cast<uint32_t>(1000 + i); };
  EXPECT_EQ(told_after(100 * kKeys, scan), 0u);
}

TEST_F(PhaseDetectorTest, TwoScansOfTheSameAreNoPhase) {
  be_used();
  // Each of a third of as many keys as there are.
  constexpr uint64_t kLength = kKeys / 3;
  const auto scans = [](uint64_t i) {
    return static_cast<uint32_t>(1000 + i / (2 * kLength) * kLength + i % kLength);
  };
  EXPECT_EQ(told_after(2 * kLength, scans), 0u);
  be_used();
  EXPECT_EQ(told_after(2 * kLength, scans), 0u) << "nor when they come later";
}

TEST_F(PhaseDetectorTest, AFewScansOfLittleAreNoPhase) {
  for (uint32_t length : {kKeys / 20, kKeys / 10}) {
    be_used();
    const auto scans = [&](uint64_t i) {
      return static_cast<uint32_t>(length * 1000 + i % length);
    };
    EXPECT_EQ(told_after(4 * length, scans), 0u) << length;
  }
}

// To go on costs more than to follow in the end, whatever comes.
TEST_F(PhaseDetectorTest, TellsOfALittleSetThatStays) {
  be_used();
  const auto next = [this](uint64_t) { return 1000 + below(kKeys / 20); };
  const uint64_t uses = told_after(10 * kKeys, next);
  EXPECT_GT(uses, kKeys / 2);
  EXPECT_LT(uses, kKeys);
}

TEST_F(PhaseDetectorTest, TellsOfALoopThatFits) {
  be_used();
  const auto loop = [](uint64_t i) { return static_cast<uint32_t>(1000 + i % (kKeys / 2)); };
  const uint64_t uses = told_after(10 * kKeys, loop);
  EXPECT_GT(uses, 0u);
  EXPECT_LT(uses, 3 * kKeys / 2);
}

// As many keys as there are at most, of which none may pass for another.
TEST(PhaseDetector, AScanOfAnyLengthIsNoPhase) {
  constexpr uint32_t kKeys = 2048;
  PhaseDetector watch(kKeys);
  for (uint64_t i = 0; i < 100 * kKeys; ++i) {
    watch.use(static_cast<uint32_t>(mix64(i % kKeys)), true);
  }
  for (uint64_t i = 0; i < 200 * kKeys; ++i) {
    ASSERT_FALSE(watch.use(static_cast<uint32_t>(mix64(1'000'000 + i)), false)) << i;
  }
}

// All blocks come in while there is room, until it is full of a set that is not used any more.
TEST_F(PhaseDetectorTest, TellsOfANewSetInACacheThatHadRoom) {
  for (uint32_t key = 0; key < kKeys; ++key) watch_.fill(static_cast<uint32_t>(mix64(key)));
  const auto next = [this](uint64_t) { return 1000 + below(kKeys * 8 / 10); };
  const uint64_t uses = told_after(10 * kKeys, next);
  EXPECT_GT(uses, 0u);
  EXPECT_LT(uses, kKeys);
}

TEST_F(PhaseDetectorTest, WhatCameInAndIsUsedIsNoPhase) {
  for (uint32_t key = 0; key < kKeys; ++key) watch_.fill(static_cast<uint32_t>(mix64(key)));
  // One use in three is of other keys.
  const auto next = [this](uint64_t i) { return i % 3 == 0 ? 1000 + below(kKeys) : below(kKeys); };
  EXPECT_EQ(told_after(100 * kKeys, next), 0u);
}

TEST_F(PhaseDetectorTest, GoesOnWhenTheCacheGrows) {
  constexpr uint32_t kNew = kKeys / 4;
  be_used();
  for (uint32_t key = 0; key < kNew; ++key) watch_.fill(static_cast<uint32_t>(mix64(1000 + key)));
  PhaseDetector grown(2 * kKeys, watch_);
  PhaseDetector fresh(2 * kKeys);
  const auto uses = [this](PhaseDetector& watch) {
    uint32_t count = 1;
    while (!watch.use(static_cast<uint32_t>(mix64(1000 + below(kNew))), false)) ++count;
    return count;
  };
  EXPECT_LT(uses(grown), uses(fresh)) << "they came before it grew";
}

TEST_F(PhaseDetectorTest, ALoopThatIsTooLongIsNoPhase) {
  be_used();
  const auto loop = [](uint64_t i) { return static_cast<uint32_t>(1000 + i % (2 * kKeys)); };
  EXPECT_EQ(told_after(100 * kKeys, loop), 0u);
}

// Where the cache hits as much as before, another might hit more: that is for the shadows to learn.
TEST_F(PhaseDetectorTest, WhatIsHitAsOftenAsBeforeIsNoPhase) {
  be_used();
  const auto next = [this](uint64_t i) { return i % 2 == 0 ? below(kKeys) : 1000 + below(50); };
  EXPECT_EQ(told_after(100 * kKeys, next), 0u);
}

TEST_F(PhaseDetectorTest, ChanceIsNoPhase) {
  const auto next = [this](uint64_t) { return below(2 * kKeys); };
  EXPECT_EQ(told_after(1'000'000, next), 0u);
}

}  // namespace
}  // namespace nvcache
