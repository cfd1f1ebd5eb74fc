// Finds a block to evict among a few: the lowest of a sample, chosen by a hand that goes round.
//
// The slots of a sample lie far apart, because neighbours came in together and are alike. Ranks are
// compared before evictable() is asked: they lie close together, while evictable() reads a line of
// memory for each slot. A sample costs at most `kLooks` of both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "nvcache/eviction_policy.h"

namespace nvcache {

// Caller-locked.
template <uint32_t kLooks>
class VictimSample {
 public:
  // The lowest by `rank(slot)`, an int, of the next kLooks slots whose block may leave and ranks
  // below `bound`.
  template <typename Rank>
  std::optional<uint32_t> lowest(const Residents& residents, int bound, Rank&& rank) {
    const uint32_t limit = residents.slot_limit();
    if (hand_ >= limit) hand_ = 0;
    const uint32_t stride = std::max(limit / kLooks, 1u);
    std::optional<uint32_t> victim;
    for (uint32_t i = 0; i < kLooks && i < limit; ++i) {
      const auto slot = static_cast<uint32_t>((uint64_t{hand_} + uint64_t{i} * stride) % limit);
      const int slot_rank = rank(slot);
      if (slot_rank >= bound || !residents.evictable(slot)) continue;
      victim = slot;
      bound = slot_rank;
    }
    ++hand_;
    return victim;
  }

  // As lowest(), of ranks below `above_all`; if none of the sample may leave, the first block that
  // may.
  template <typename Rank>
  std::optional<uint32_t> any(const Residents& residents, int above_all, Rank&& rank) {
    std::optional<uint32_t> victim = lowest(residents, above_all, rank);
    const uint32_t limit = residents.slot_limit();
    for (uint32_t slot = 0; slot < limit && !victim; ++slot) {
      if (residents.evictable(slot)) victim = slot;
    }
    return victim;
  }

 private:
  uint32_t hand_ = 0;
};

}  // namespace nvcache
