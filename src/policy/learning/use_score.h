// How often and how recently a block was used, as one number of 7 bits.
//
// The score is that of LRFU (Lee et al., "LRFU: a spectrum of policies", IEEE ToC 2001): each use
// counts 2^(-age / half-life), and the score is their sum. A long half-life ranks blocks by how
// often they were used, a short one by how long ago. The stored number is 4 * log2 of the sum as of
// time zero, modulo 128, so that scores need no update while time passes: a step of time is a
// quarter of a half-life. A score tells blocks apart from 96 steps (24 half-lives) below one use to
// 31 steps (216 uses at once) above. One that is older would look new, so every score has to be
// passed to age() once in kAgeSteps steps.
//
// A use adds log2(1 + 2^-x) of a step where x is what the score is ahead; fractions are rounded by
// chance, of which `noise` is the source.
// Thread-safe: pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace nvcache {

struct UseScore {
  static constexpr uint32_t kBits = 7;
  static constexpr uint32_t kMask = (1u << kBits) - 1;
  static constexpr int kStepsPerHalfLife = 4;
  static constexpr int kLowest = -96;  // steps ahead of one use now
  static constexpr int kHighest = kLowest + (1 << kBits) - 1;
  static constexpr int kOldest = -80;  // age() keeps scores above this
  static constexpr int kAgeSteps = kOldest - kLowest;

  // How far a score is ahead of one use at `now`, in steps.
  static int lead(uint32_t score, uint32_t now) {
    return static_cast<int>((score - now - static_cast<uint32_t>(kLowest)) & kMask) + kLowest;
  }
  static uint32_t at_lead(int lead, uint32_t now) {
    return (now + static_cast<uint32_t>(lead)) & kMask;
  }
  // The score of a block whose only use is now.
  static uint32_t once(uint32_t now) { return at_lead(0, now); }

  // The score after one more use.
  static uint32_t used(uint32_t score, uint32_t now, uint32_t noise) {
    const uint32_t above_lowest = (score - now - static_cast<uint32_t>(kLowest)) & kMask;
    const uint32_t after = (kAfterUse[above_lowest] + (noise & 255)) >> 8;
    return (now + std::min(after, kMask) + static_cast<uint32_t>(kLowest)) & kMask;
  }

  // The score, kept from wrapping around.
  static uint32_t age(uint32_t score, uint32_t now) {
    return lead(score, now) < kOldest ? at_lead(kOldest, now) : score;
  }

 private:
  // 256 * 4 * log2(1 + 2^(-apart / 4)), rounded.
  static constexpr std::array<uint16_t, 32> kGain = {
      1024, 902, 790, 689, 599, 518, 447, 385, 330, 282, 240, 205, 174, 148, 125, 106,
      90,   76,  64,  54,  45,  38,  32,  27,  23,  19,  16,  14,  11,  10,  8,   7};

  // 256 * the score after a use, by the score before it, both in steps above kLowest.
  static constexpr std::array<uint16_t, 1 << kBits> kAfterUse = [] {
    std::array<uint16_t, 1 << kBits> after{};
    for (int before = kLowest; before <= kHighest; ++before) {
      const auto apart = static_cast<size_t>(before < 0 ? -before : before);
      const uint32_t gain = apart < kGain.size() ? kGain[apart] : 0;
      const auto steps = static_cast<uint32_t>(std::max(before, 0) - kLowest);
      after[static_cast<size_t>(before - kLowest)] = static_cast<uint16_t>(256 * steps + gain);
    }
    return after;
  }();
};

}  // namespace nvcache
