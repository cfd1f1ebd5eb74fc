// Statistics of a tiered cache: the snapshot, its JSON and its Prometheus text.
#include <vector>

#include "base/metrics.h"
#include "base/text.h"
#include "block_cache/api/stats_text.h"
#include "fmt/format.h"
#include "tiered_cache/stats_sum.h"
#include "tiered_cache/tiered_cache_impl.h"

namespace nvcache {
namespace {

using enum MetricKind;

double ratio_of(const TieredStats& stats) { return stats.hit_ratio(); }

// nvcache/tiered_cache.h documents them all.
constexpr Metric<TieredStats, TierCount> kTieredMetrics[] = {
    {"lookups", "Lookups", kCounter, &TieredStats::lookups, TierCount::kLookups},
    {"misses", "Lookups that no tier served", kCounter, &TieredStats::misses},
    {"hit_ratio", "Share of lookups that a tier served", kGauge, ratio_of},
    {"pinned_bytes", "Charge of objects with handles", kGauge, &TieredStats::pinned_bytes},
    {"queued", "Evicted objects that wait for their demotion", kGauge, &TieredStats::queued},
    {"queued_bytes", "Charge of queued objects", kGauge, &TieredStats::queued_bytes},
    {"taken_back", "Queued objects put back by a lookup", kCounter, &TieredStats::taken_back,
     TierCount::kTakenBack},
    {"queue_full", "Objects demoted by the caller because the queue was full", kCounter,
     &TieredStats::queue_full, TierCount::kQueueFull},
};

constexpr Metric<TierStats, TierCount> kTierMetrics[] = {
    {"hits", "Lookups that the tier served", kCounter, &TierStats::hits, TierCount::kHits},
    {"inserts", "New blocks inserted into the tier", kCounter, &TierStats::inserts,
     TierCount::kInserts},
    {"demoted_in", "Blocks demoted from the tier above", kCounter, &TierStats::demoted_in,
     TierCount::kDemotedIn},
    {"promoted_in", "Blocks promoted from the tier below", kCounter, &TierStats::promoted_in,
     TierCount::kPromotedIn},
    {"refused", "Blocks that the tier refused", kCounter, &TierStats::refused, TierCount::kRefused},
    {"dropped", "Blocks that left the cache from the tier", kCounter, &TierStats::dropped,
     TierCount::kDropped},
    {"blocks", "Blocks in the tier", kGauge, &TierStats::blocks},
    {"used_bytes", "Bytes of the tier taken", kGauge, &TierStats::used_bytes},
    {"size_bytes", "Bytes of the tier", kGauge, &TierStats::size_bytes},
    {"threshold", "A block with more references is promoted; 0: never", kGauge,
     &TierStats::threshold},
    {"users", "Caches of the process that share the tier; 0: it is not shared", kGauge,
     &TierStats::users},
};
static_assert(each_has_a_row({TierCount::kPinnedBytes, TierCount::kLowerHits}, kTieredMetrics,
                             kTierMetrics));

void write_json(const TierStats& tier, bool has_block_cache, JsonText* json) {
  json->begin_object();
  json->member("medium", tier.medium);
  if (!tier.name.empty()) json->member("name", tier.name);
  append_json(kTierMetrics, tier, json);
  if (!tier.problem.empty()) json->member("problem", tier.problem);
  if (has_block_cache) {
    json->name("block_cache");
    write_json(tier.block_cache, json);
  }
  json->end_object();
}

}  // namespace

void add_metrics(const TieredStats& from, bool gauges, TieredStats* sum) {
  add_metrics(kTieredMetrics, from, gauges, sum);
}

void add_metrics(const TierStats& from, bool gauges, TierStats* sum) {
  add_metrics(kTierMetrics, from, gauges, sum);
}

double TieredStats::hit_ratio() const {
  if (lookups == 0) return 0;
  return static_cast<double>(lookups - misses) / static_cast<double>(lookups);
}

std::string TieredStats::to_json() const {
  JsonText json(2);
  json.begin_object();
  json.member("policy", policy);
  append_json(kTieredMetrics, *this, &json);
  json.name("tiers");
  json.begin_array();
  for (size_t i = 0; i < tiers.size(); ++i) write_json(tiers[i], i > 0, &json);
  json.end_array();
  json.end_object();
  return json.take();
}

std::string TieredStats::to_prometheus() const {
  PrometheusText whole("nvcache_tiered_");
  const Labeled<TieredStats> self[] = {{.labels = "", .stats = this}};
  whole.append<TieredStats>(kTieredMetrics, self);
  whole.family("info", "The policy of the cache", kGauge);
  whole.sample(fmt::format("policy=\"{}\"", escape_label(policy)), 1);

  std::vector<Labeled<TierStats>> each_tier;
  std::vector<Labeled<Stats>> block_caches;
  for (size_t i = 0; i < tiers.size(); ++i) {
    const std::string label = fmt::format("tier=\"{}\"", i);
    each_tier.push_back({.labels = label, .stats = &tiers[i]});
    if (i > 0) block_caches.push_back({.labels = label, .stats = &tiers[i].block_cache});
  }
  PrometheusText by_tier("nvcache_tier_");
  by_tier.append<TierStats>(kTierMetrics, each_tier);
  by_tier.family("info", "What the tier lies on, and why it could not be opened", kGauge);
  for (const auto& [label, tier] : each_tier) {
    const std::string names =
        fmt::format("medium=\"{}\",problem=\"{}\",name=\"{}\"", escape_label(tier->medium),
                    escape_label(tier->problem), escape_label(tier->name));
    by_tier.sample(join_labels(label, names), 1);
  }

  PrometheusText lower("nvcache_");
  if (!block_caches.empty()) append_stats(block_caches, &lower);
  return whole.take() + by_tier.take() + lower.take();
}

TierStats LowerTier::stats() const {
  TierStats stats;
  read_counters(kTierMetrics, counts_, &stats);
  stats.size_bytes = config_.cache.size_bytes;
  stats.medium = config_.cache.medium;
  stats.problem = store_.problem().message();
  stats.name = config_.name;
  if (share_ != nullptr) {
    stats.users = share_->users();
    stats.block_cache = share_->stats();
  }
  const BlockStore* const store = opened();
  if (store == nullptr) return stats;
  if (share_ == nullptr) {
    stats.block_cache = store->stats();
    stats.hits = stats.block_cache.hits;
    if (!has_sink_) stats.dropped += stats.block_cache.evictions;
  }
  stats.blocks = stats.block_cache.blocks;
  stats.used_bytes = stats.block_cache.used_bytes;
  stats.size_bytes = stats.block_cache.size_bytes;
  stats.medium = stats.block_cache.medium;
  return stats;
}

TieredStats TieredCacheImpl::stats() const {
  // Hits first, lookups last: a lookup between the two counts is a miss at worst.
  TieredStats stats;
  TierStats first;
  read_counters(kTierMetrics, objects_.counts(), &first);
  const uint64_t lower_hits = objects_.counts().sum(TierCount::kLowerHits);
  read_counters(kTieredMetrics, objects_.counts(), &stats);
  stats.misses = stats.lookups - std::min(stats.lookups, first.hits + lower_hits);
  const ObjectShard::Use use = objects_.use();
  stats.policy = placement_->describe();
  stats.pinned_bytes = use.pinned_bytes;
  if (queue_ != nullptr) {
    const DemotionQueue::Use queue = queue_->use();
    stats.queued = queue.blocks;
    stats.queued_bytes = queue.bytes;
  }
  first.medium = "dram (objects)";
  first.blocks = use.entries;
  first.used_bytes = use.charged_bytes;
  first.size_bytes = objects_.capacity_bytes();
  stats.tiers.push_back(std::move(first));
  for (size_t tier = 1; tier <= lower_.size(); ++tier) {
    stats.tiers.push_back(lower_[tier - 1]->stats());
    stats.tiers.back().threshold = threshold_of(tier);
  }
  return stats;
}

}  // namespace nvcache
