// Statistics of a tiered cache: the snapshot, and its JSON.
#include "tiered_cache/tiered_cache_impl.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

struct TierField {
  const char* name;
  uint64_t TierStats::*value;
};

// nvcache/tiered_cache.h documents them.
constexpr TierField kTierFields[] = {
    {"hits", &TierStats::hits},
    {"inserts", &TierStats::inserts},
    {"demoted_in", &TierStats::demoted_in},
    {"promoted_in", &TierStats::promoted_in},
    {"refused", &TierStats::refused},
    {"dropped", &TierStats::dropped},
    {"blocks", &TierStats::blocks},
    {"used_bytes", &TierStats::used_bytes},
    {"size_bytes", &TierStats::size_bytes},
};

nlohmann::ordered_json to_json(const TierStats& tier, bool has_block_cache) {
  nlohmann::ordered_json json;
  json["medium"] = tier.medium;
  for (const TierField& field : kTierFields) json[field.name] = tier.*field.value;
  json["threshold"] = tier.threshold;
  if (!tier.problem.empty()) json["problem"] = tier.problem;
  if (has_block_cache) {
    json["block_cache"] = nlohmann::ordered_json::parse(tier.block_cache.to_json());
  }
  return json;
}

}  // namespace

double TieredStats::hit_ratio() const {
  if (lookups == 0) return 0;
  return static_cast<double>(lookups - misses) / static_cast<double>(lookups);
}

std::string TieredStats::to_json() const {
  nlohmann::ordered_json json;
  json["policy"] = policy;
  json["lookups"] = lookups;
  json["misses"] = misses;
  json["hit_ratio"] = hit_ratio();
  json["pinned_bytes"] = pinned_bytes;
  json["queued"] = queued;
  json["queued_bytes"] = queued_bytes;
  json["taken_back"] = taken_back;
  json["queue_full"] = queue_full;
  json["tiers"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < tiers.size(); ++i) {
    json["tiers"].push_back(nvcache::to_json(tiers[i], i > 0));
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

TieredStats TieredCacheImpl::stats() const {
  // Hits first, lookups last: a lookup between the two counts is a miss at worst.
  const uint64_t hits_below = hits_below_.load(std::memory_order_relaxed);
  const ObjectShard::Use use = objects_.use();
  TieredStats stats;
  stats.policy = placement_->describe();
  stats.lookups = use.lookups;
  stats.misses = use.lookups - std::min(use.lookups, use.hits + hits_below);
  stats.pinned_bytes = use.charged_bytes - use.idle_bytes + use.visiting_bytes;
  if (queue_ != nullptr) {
    const DemotionQueue::Use queue = queue_->use();
    stats.queued = queue.blocks;
    stats.queued_bytes = queue.bytes;
    stats.taken_back = queue.taken_back;
    stats.queue_full = queue.refused;
  }
  TierStats first;
  first.medium = "dram (objects)";
  first.hits = use.hits;
  first.inserts = use.inserts;
  first.promoted_in = use.promoted_in;
  first.dropped = dropped_.load(std::memory_order_relaxed);
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
