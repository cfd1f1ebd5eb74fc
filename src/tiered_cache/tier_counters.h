// The counters of a tier, and of a tiered cache at its first tier. The tables in
// tiered_stats.cc have a row for each total of TierStats and TieredStats. Thread-safe; an addition
// takes no locked instruction (base/striped_counters.h).
#pragma once

#include <cstdint>

#include "base/striped_counters.h"

namespace nvcache {

enum class TierCount : uint8_t {
  kLookups,  // first tier: of the whole cache
  kHits,     // first tier; a lower tier's block cache counts its own
  kPinnedBytes,
  kInserts,
  kDemotedIn,
  kPromotedIn,
  kRefused,
  kDropped,
  kLowerHits,  // first tier, as the two below: foreground lookups that a lower tier served
  kTakenBack,
  kQueueFull,
  kFieldCount,
};

using TierCounters = StripedCounters<TierCount>;

}  // namespace nvcache
