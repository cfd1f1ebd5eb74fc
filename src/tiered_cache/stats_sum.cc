#include "tiered_cache/stats_sum.h"

#include "block_cache/api/stats_text.h"

namespace nvcache {
namespace {

void name_as(const TierStats& from, TierStats* to) {
  to->medium = from.medium;
  to->name = from.name;
  to->threshold = from.threshold;
  if (!from.problem.empty()) to->problem = from.problem;
  to->block_cache.medium = from.block_cache.medium;
  to->block_cache.admission = from.block_cache.admission;
  to->block_cache.eviction = from.block_cache.eviction;
}

// The statistics of the tier that many share, from one cache.
TierStats whole_of(const TierStats& tier, bool open) {
  TierStats whole;
  add_stats(tier.block_cache, open, &whole.block_cache);
  if (!open) return whole;
  whole.blocks = tier.blocks;
  whole.used_bytes = tier.used_bytes;
  whole.size_bytes = tier.size_bytes;
  whole.users = tier.users;
  return whole;
}

}  // namespace

void StatsSum::add(const TieredStats& stats, bool open) {
  sum_.policy = stats.policy;
  add_metrics(stats, open, &sum_);
  if (sum_.tiers.size() < stats.tiers.size()) sum_.tiers.resize(stats.tiers.size());
  for (size_t i = 0; i < stats.tiers.size(); ++i) {
    const TierStats& from = stats.tiers[i];
    TierStats& to = sum_.tiers[i];
    const bool shared = !from.name.empty();
    name_as(from, &to);
    add_metrics(from, open && !shared, &to);
    if (shared) {
      shared_[{i, from.name}] = whole_of(from, open);
    } else {
      add_stats(from.block_cache, open, &to.block_cache);
    }
  }
}

TieredStats StatsSum::total() const {
  TieredStats total = sum_;
  for (const auto& [place, whole] : shared_) {
    TierStats& tier = total.tiers[place.first];
    add_metrics(whole, /*gauges=*/true, &tier);
    add_stats(whole.block_cache, /*gauges=*/true, &tier.block_cache);
  }
  return total;
}

}  // namespace nvcache
