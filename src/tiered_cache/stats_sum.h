// The statistics of several tiered caches as those of one: a process with 50 stores has one file.
// Stateless.
#pragma once

#include "nvcache/tiered_cache.h"

namespace nvcache {

// Adds the statistics of a cache to those of others, tier by tier; of one that is closed, the
// totals alone. Policies, media and thresholds become those of `from`; a problem stays.
void add_stats(const TieredStats& from, bool open, TieredStats* sum);

}  // namespace nvcache
