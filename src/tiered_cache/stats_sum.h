// The statistics of several tiered caches as those of one: a process with 50 stores has one file.
// A tier that caches share is one tier: what its block cache says counts once. Caller-locked.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "nvcache/tiered_cache.h"

namespace nvcache {

// Adds the totals, and with `gauges` the gauges, that the tables in tiered_stats.cc have.
void add_metrics(const TieredStats& from, bool gauges, TieredStats* sum);
void add_metrics(const TierStats& from, bool gauges, TierStats* sum);

class StatsSum {
 public:
  // Of a cache that is open.
  void add(const TieredStats& stats) { add(stats, /*open=*/true); }
  // Of one that is closing: its totals stay, and no more.
  void add_closed(const TieredStats& stats) { add(stats, /*open=*/false); }

  // Tiers are added up by their number; names, policies and thresholds are those of the last cache.
  TieredStats total() const;

 private:
  void add(const TieredStats& stats, bool open);

  TieredStats sum_;  // without what shared_ has
  // By number and name: what the last cache said of a shared tier as a whole.
  std::map<std::pair<size_t, std::string>, TierStats> shared_;
};

}  // namespace nvcache
