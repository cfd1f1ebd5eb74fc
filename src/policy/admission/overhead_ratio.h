// The overhead bypass ratio of *Writes Hurt*, section 3.2.3:
//
//   OBP = (blocks inserted + blocks removed) / blocks looked up
//
// It is the cost of a cache (what it writes to its medium) over its benefit (lookups). Before the
// first lookup the denominator is 1. So the first block of an empty cache meets a ratio of 0 and is
// admitted; the blocks after it, in a populate phase that only writes, meet 1 and are refused.
// Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nvcache/admission_policy.h"

namespace nvcache {

// Over the life of the cache. Unit: blocks per block.
inline double overhead_ratio(const Traffic& traffic) {
  return static_cast<double>(traffic.inserted + traffic.removed) /
         static_cast<double>(std::max<uint64_t>(traffic.lookups, 1));
}

}  // namespace nvcache
