#include "tiered_cache/lower_tier.h"

#include <utility>
#include <vector>

#include "base/test_hooks.h"

namespace nvcache {

LowerTier::LowerTier(const TierConfig& config, Clock& clock, const Use& use, EvictionSink* sink,
                     OpenMedium open_medium)
    : config_(config),
      count_references_(use.count_references),
      has_sink_(sink != nullptr),
      own_(std::make_unique<LateBlockStore>(
          config.cache, clock,
          BlockStore::Options{.count_references = use.count_references, .sink = sink},
          std::move(open_medium))),
      store_(*own_),
      keys_(use.form) {}

LowerTier::LowerTier(const TierConfig& config, std::unique_ptr<TierShare> share, const Use& use)
    : config_(config),
      count_references_(use.count_references),
      has_sink_(false),
      share_(std::move(share)),
      store_(share_->store()),
      keys_(share_->keys().of_form(use.form)) {}

Status LowerTier::open_if_warm() {
  if (!config_.restarts_warm() || store_.open() != nullptr) return ok_status();
  const Status problem = store_.problem();
  return problem.ok() ? resource_exhausted_error("no memory for a tier of a cache") : problem;
}

bool LowerTier::put(const BlockKey& key, ByteView block, Arrival arrival,
                    const std::atomic<uint32_t>& generation, uint32_t expected) {
  BlockStore* const store = store_.open_unless_busy();
  if (test_hooks.skip_tokens) expected = generation.load();
  const Verdict verdict = store == nullptr ? Verdict::refuse(Reason::kMediumFailed)
                                           : store->put(keys_.inside(key), block, Origin::kRead,
                                                        {generation, expected});
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
  BlockStore* const store = opened();
  if (store == nullptr) return {};
  const BlockKey inside = keys_.inside(key);
  const uint64_t hash = store->hash_of(inside);
  uint32_t slot = 0;
  Lookup found = store->find(hash, inside, {.caller = caller}, &slot);
  if (!found.hit()) return found;
  if (count_references_ && caller == Caller::kForeground) {
    *references = store->add_reference(hash, slot);
  }
  if (share_ != nullptr) counts_.add(TierCount::kHits, 1);
  return found;
}

void LowerTier::erase(const BlockKey& key) {
  if (BlockStore* const store = opened(); store != nullptr) {
    store->erase(keys_.inside(key), Gone::kForGood);
  }
}

void LowerTier::supersede(const BlockKey& key) {
  const bool may_differ = !config_.cache.immutable_keys && !test_hooks.restore_superseded;
  if (may_differ) return erase(key);
  if (BlockStore* const store = opened(); store != nullptr) {
    store->erase(keys_.inside(key), Gone::kMayReturn);
  }
}

void LowerTier::erase_gone_files(std::span<const uint64_t> files) {
  BlockStore* const store = opened();
  if (store == nullptr) return;
  std::vector<uint64_t> inside;
  inside.reserve(files.size());
  for (const uint64_t file : files) inside.push_back(keys_.inside_file(file));
  (void)store->erase(Blocks{.files = inside}, Gone::kMayReturn);
}

void LowerTier::clear() {
  if (share_ != nullptr) return share_->clear();
  if (BlockStore* const store = opened(); store != nullptr) store->clear();
}

void LowerTier::drain() {
  if (BlockStore* const store = opened(); store != nullptr) store->drain();
}

double LowerTier::used_share() const {
  const BlockStore* const store = opened();
  return store == nullptr ? 0 : store->used_share();
}

}  // namespace nvcache
