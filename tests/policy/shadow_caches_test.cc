// Shadow caches follow what suits the uses.
#include "policy/learning/shadow_caches.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace nvcache {
namespace {

constexpr uint64_t kShadowedBlocks = 20'000;

// Keys of a skewed, steady popularity, and some that never come again.
uint64_t steady(Prng& random, uint64_t use) {
  if (random.below(2) == 0) return 1'000'000 + use;
  const double unit = random.unit();
  return static_cast<uint64_t>(unit * unit * unit * static_cast<double>(4 * kShadowedBlocks));
}

// Keys that come back soon, and then never again.
uint64_t moving(Prng& random, uint64_t use) { return use / 3 + random.below(kShadowedBlocks / 3); }

template <typename Next>
UseSettings learn(ShadowCaches& shadows, Next&& next, uint64_t uses) {
  Prng random(8);
  for (uint64_t use = 0; use < uses; ++use) {
    const uint64_t key_hash = mix64(next(random, use));
    if (shadows.samples(key_hash)) shadows.use(key_hash);
  }
  return ShadowCaches::settings_at(shadows.chosen());
}

TEST(ShadowCaches, FollowWhatSuitsTheUses) {
  ShadowCaches shadows(kShadowedBlocks, 0.2);
  const UseSettings first = ShadowCaches::settings_at(ShadowCaches::kFirstSettings);
  const UseSettings of_steady = learn(shadows, steady, 100 * kShadowedBlocks);
  EXPECT_GE(of_steady.half_life, first.half_life);
  const UseSettings of_moving = learn(shadows, moving, 100 * kShadowedBlocks);
  EXPECT_LT(of_moving.half_life, of_steady.half_life);
  const UseSettings again = learn(shadows, steady, 100 * kShadowedBlocks);
  EXPECT_GT(again.half_life, of_moving.half_life);
}

TEST(ShadowCaches, TakeFewBytes) {
  EXPECT_LE(ShadowCaches(10'000'000, 0.2).metadata_bytes(), 17u << 10);
  EXPECT_LE(ShadowCaches(100'000, 0.2).metadata_bytes(), 17u << 10);
  EXPECT_LE(ShadowCaches(1000, 0.2).metadata_bytes(), 4096u);
}

}  // namespace
}  // namespace nvcache
