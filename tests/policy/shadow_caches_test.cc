// Shadow caches: which keys they sample, and that they follow what suits the uses.
#include "policy/shadow_caches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/prng.h"

namespace nvcache {
namespace {

constexpr uint64_t kBlocks = 20'000;

// Keys of a skewed, steady popularity, and some that never come again.
uint64_t steady(Prng& random, uint64_t use) {
  if (random.below(2) == 0) return 1'000'000 + use;
  const double unit = random.unit();
  return static_cast<uint64_t>(unit * unit * unit * static_cast<double>(4 * kBlocks));
}

// Keys that come back soon, and then never again.
uint64_t moving(Prng& random, uint64_t use) { return use / 3 + random.below(kBlocks / 3); }

template <typename Next>
UseSettings learn(ShadowCaches& shadows, Next&& next, uint64_t uses) {
  Prng random(8);
  for (uint64_t use = 0; use < uses; ++use) {
    const uint64_t key_hash = mix64(next(random, use));
    if (shadows.samples(key_hash)) shadows.use(key_hash, false);
  }
  return shadows.settings();
}

TEST(ShadowCaches, SampleAsManyKeysAsTheyHaveRoomFor) {
  for (const uint64_t blocks : {100, 2000, 50'000, 1'000'000}) {
    const ShadowCaches shadows(blocks, 0.2);
    uint64_t sampled = 0;
    for (uint64_t key = 0; key < blocks; ++key) sampled += shadows.samples(mix64(key)) ? 1 : 0;
    const uint64_t room = std::clamp<uint64_t>(blocks / ShadowCaches::kBlocksPerKey,
                                               ShadowCaches::kLeastKeys, ShadowCaches::kMostKeys);
    EXPECT_NEAR(static_cast<double>(sampled), static_cast<double>(room),
                4 * std::sqrt(static_cast<double>(room)))
        << blocks;
    EXPECT_TRUE(shadows.fits(blocks));
    EXPECT_TRUE(shadows.fits(2 * blocks));
    EXPECT_FALSE(shadows.fits(3 * blocks));
    EXPECT_FALSE(shadows.fits(blocks / 3));
  }
}

TEST(ShadowCaches, ALargerCacheSamplesNoKeyThatASmallerOneLeavesOut) {
  for (uint64_t key = 0; key < 10'000; ++key) {
    bool sampled = true;
    for (uint64_t blocks = 1; blocks < 10'000'000; blocks = blocks * 3 / 2 + 1) {
      const bool here = ShadowCaches::place_of(key) <= ShadowCaches::highest_sampled(blocks);
      ASSERT_TRUE(sampled || !here) << key << " of " << blocks;
      sampled = here;
    }
  }
}

TEST(ShadowCaches, FollowWhatSuitsTheUses) {
  ShadowCaches shadows(kBlocks, 0.2);
  const UseSettings first = ShadowCaches::first_settings();
  const UseSettings of_steady = learn(shadows, steady, 100 * kBlocks);
  EXPECT_GE(of_steady.half_life, first.half_life);
  const UseSettings of_moving = learn(shadows, moving, 100 * kBlocks);
  EXPECT_LT(of_moving.half_life, of_steady.half_life);
  const UseSettings again = learn(shadows, steady, 100 * kBlocks);
  EXPECT_GT(again.half_life, of_moving.half_life);
}

TEST(ShadowCaches, TakeFewBytes) {
  EXPECT_LE(ShadowCaches(10'000'000, 0.2).metadata_bytes(), 17u << 10);
  EXPECT_LE(ShadowCaches(100'000, 0.2).metadata_bytes(), 17u << 10);
  EXPECT_LE(ShadowCaches(1000, 0.2).metadata_bytes(), 4096u);
}

}  // namespace
}  // namespace nvcache
