// Samples of keys: how large they are, and that they shrink as caches grow.
#include "policy/learning/key_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace nvcache {
namespace {

KeySample sample_for(uint64_t blocks) { return KeySample::of(blocks, 48, 128, 512); }

TEST(KeySample, HasAsManyKeysOfTheBlocksAsItSays) {
  for (const uint64_t blocks : {100, 2000, 50'000, 1'000'000}) {
    const KeySample sample = sample_for(blocks);
    uint64_t sampled = 0;
    for (uint64_t key = 0; key < blocks; ++key) sampled += sample.has(mix64(key)) ? 1 : 0;
    const uint64_t expected = std::min(blocks, std::clamp<uint64_t>(blocks / 48, 128, 512));
    EXPECT_NEAR(static_cast<double>(sampled), static_cast<double>(expected),
                4 * std::sqrt(static_cast<double>(expected)))
        << blocks;
    EXPECT_EQ(sample.keys, expected);
  }
}

TEST(KeySample, OfALargerCacheHasNoKeyThatOfASmallerOneHasNot) {
  for (uint64_t key = 0; key < 10'000; ++key) {
    bool sampled = true;
    for (uint64_t blocks = 1; blocks < 10'000'000; blocks = blocks * 3 / 2 + 1) {
      const bool here = sample_for(blocks).has(key);
      ASSERT_TRUE(sampled || !here) << key << " of " << blocks;
      sampled = here;
    }
  }
}

}  // namespace
}  // namespace nvcache
