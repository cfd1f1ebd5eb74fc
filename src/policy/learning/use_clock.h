// The time of use scores (use_score.h): it moves with the offers of blocks that are not in the
// cache. A half-life of H passes when H offers have come for each cached block, so that a cache
// that serves nearly all lookups forgets slowly.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "policy/learning/use_score.h"

namespace nvcache {

// Caller-locked, but for now(), which is thread-safe.
class UseClock {
 public:
  // In steps. Relaxed: a use may be dated a step early.
  uint32_t now() const { return now_.load(std::memory_order_relaxed); }

  // An offer to a cache of `blocks` blocks. True once in kAgeSteps / 2 steps: then every score has
  // to be passed to UseScore::age() before as many steps more.
  bool offer(double half_life, uint64_t blocks) {
    constexpr double kLeastBlocks = 64;
    NVCACHE_ASSERT_SLOW(half_life > 0);
    fraction_ += UseScore::kStepsPerHalfLife /
                 (half_life * std::max(static_cast<double>(blocks), kLeastBlocks));
    if (fraction_ < 1) return false;
    // More than one step in a small cache with a short half-life.
    const auto steps = static_cast<uint32_t>(fraction_);
    fraction_ -= steps;
    const uint32_t before = now();
    now_.store(before + steps, std::memory_order_relaxed);
    constexpr uint32_t kHalf = UseScore::kAgeSteps / 2;
    NVCACHE_ASSERT_SLOW(steps < kHalf);
    return (before + steps) / kHalf != before / kHalf;
  }

  // Moves on by less than kAgeSteps / 2 steps at once, all scores having been passed to
  // UseScore::age() since the last step.
  void skip(uint32_t steps) {
    NVCACHE_ASSERT_SLOW(steps < UseScore::kAgeSteps / 2);
    now_.store(now() + steps, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint32_t> now_{0};
  double fraction_ = 0;  // of a step
};

}  // namespace nvcache
