// The overhead bypass ratio of "Writes Hurt" (SoCC '22), section 3.2.3:
//
//   OBP = (blocks inserted + blocks removed) / blocks looked up
//
// The cost of a cache (what writes to its medium) over its benefit (lookups).
// Without any lookup the denominator is 1: the first block of an empty cache
// meets a ratio of 0 and is admitted, a populate phase that only writes then
// meets 1 and is kept out. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "policy/admission/admission_policy.h"

namespace nvcache {

// Over the life of the cache. Unit: blocks per block.
inline double overhead_ratio(const Traffic& traffic) {
  return static_cast<double>(traffic.inserted + traffic.removed) /
         static_cast<double>(std::max<uint64_t>(traffic.lookups, 1));
}

}  // namespace nvcache
