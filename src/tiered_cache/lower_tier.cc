#include "tiered_cache/lower_tier.h"

#include <utility>
#include <vector>

#include "base/test_hooks.h"

namespace nvcache {

LowerTier::LowerTier(const TierConfig& config, Clock& clock, bool count_references,
                     EvictionSink* sink)
    : config_(config),
      count_references_(count_references),
      has_sink_(sink != nullptr),
      own_(std::make_unique<LateBlockCache>(
          config.cache, clock,
          BlockCacheImpl::TierOptions{.count_references = count_references, .sink = sink})),
      cache_(*own_) {}

LowerTier::LowerTier(const TierConfig& config, std::unique_ptr<TierShare> share,
                     bool count_references)
    : config_(config),
      count_references_(count_references),
      has_sink_(false),
      share_(std::move(share)),
      cache_(share_->cache()),
      keys_(share_->keys()) {}

absl::Status LowerTier::open_if_warm() {
  if (!config_.restarts_warm() || cache_.open() != nullptr) return absl::OkStatus();
  const absl::Status problem = cache_.problem();
  return problem.ok() ? absl::ResourceExhaustedError("no memory for a tier of a cache") : problem;
}

bool LowerTier::put(const BlockKey& key, ByteView block, Arrival arrival,
                    const std::atomic<uint32_t>& generation, uint32_t expected) {
  BlockCacheImpl* const cache = cache_.open();
  if (test_hooks.skip_tokens) expected = generation.load();
  const Verdict verdict =
      cache == nullptr
          ? Verdict::refuse(Reason::kMediumFailed)
          : cache->put_if(keys_.inside(key), block, Origin::kRead, generation, expected);
  if (!verdict.admitted()) {
    counts_.add(TierCount::kRefused, 1);
    return verdict.reason == Reason::kDuplicate;
  }
  counts_.add(arrival == Arrival::kNew       ? TierCount::kInserts
              : arrival == Arrival::kDemoted ? TierCount::kDemotedIn
                                             : TierCount::kPromotedIn,
              1);
  return true;
}

Lookup LowerTier::lookup(const BlockKey& key, Caller caller, uint32_t* references) {
  *references = 0;
  BlockCacheImpl* const cache = opened();
  if (cache == nullptr) return {};
  const bool counts = count_references_ && caller == Caller::kForeground;
  const BlockKey inside = keys_.inside(key);
  Lookup found = counts ? cache->lookup_counted(inside, references)
                        : cache->lookup(inside, {.caller = caller});
  if (share_ != nullptr && found.hit()) counts_.add(TierCount::kHits, 1);
  return found;
}

void LowerTier::erase(const BlockKey& key) {
  if (BlockCacheImpl* const cache = opened(); cache != nullptr) {
    cache->erase(keys_.inside(key));
  }
}

void LowerTier::supersede(const BlockKey& key) {
  const bool may_differ = !config_.cache.immutable_keys && !test_hooks.restore_superseded;
  if (may_differ) return erase(key);
  if (BlockCacheImpl* const cache = opened(); cache != nullptr) {
    cache->erase_dead(keys_.inside(key));
  }
}

void LowerTier::erase_dead_files(std::span<const uint64_t> files) {
  BlockCacheImpl* const cache = opened();
  if (cache == nullptr) return;
  if (keys_.whole()) {
    cache->erase_dead_files(files);
    return;
  }
  std::vector<uint64_t> inside;
  inside.reserve(files.size());
  for (const uint64_t file : files) inside.push_back(keys_.inside_file(file));
  cache->erase_dead_files(inside);
}

void LowerTier::clear() {
  if (share_ != nullptr) return share_->clear();
  if (BlockCacheImpl* const cache = opened(); cache != nullptr) cache->clear();
}

void LowerTier::drain() {
  if (BlockCacheImpl* const cache = opened(); cache != nullptr) cache->drain();
}

double LowerTier::used_share() const {
  const BlockCacheImpl* const cache = opened();
  return cache == nullptr ? 0 : cache->used_share();
}

}  // namespace nvcache
