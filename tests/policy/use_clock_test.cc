// The time of use scores keeps up with the offers.
#include "policy/learning/use_clock.h"

#include <gtest/gtest.h>

namespace nvcache {
namespace {

// Offers for each cached block until this many steps have passed.
double offers_for_each_block(double half_life, uint64_t blocks, uint32_t steps, int* rounds) {
  UseClock clock;
  uint64_t offers = 0;
  for (; clock.now() < steps; ++offers) *rounds += clock.offer(half_life, blocks) ? 1 : 0;
  return static_cast<double>(offers) / static_cast<double>(blocks);
}

TEST(UseClock, AHalfLifePassesWithItsOffersForEachBlock) {
  for (const double half_life : {0.25 / 8, 0.25, 1.0, 16.0}) {
    for (const uint64_t blocks : {64, 1000}) {
      int rounds = 0;
      const uint32_t steps = 100 * UseScore::kStepsPerHalfLife;
      const double offers = offers_for_each_block(half_life, blocks, steps, &rounds);
      EXPECT_NEAR(offers / (100 * half_life), 1, 0.01) << half_life << ", " << blocks;
      EXPECT_EQ(rounds, static_cast<int>(steps / (UseScore::kAgeSteps / 2)));
    }
  }
}

TEST(UseClock, FewBlocksCountAs64) {
  int rounds = 0;
  EXPECT_NEAR(offers_for_each_block(1, 8, 400, &rounds), 8 * 100, 8);
}

}  // namespace
}  // namespace nvcache
