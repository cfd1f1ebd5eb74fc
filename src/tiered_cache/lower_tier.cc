#include "tiered_cache/lower_tier.h"

#include <new>
#include <utility>

#include "base/test_hooks.h"
#include "base/text.h"
#include "medium/medium.h"

namespace nvcache {

LowerTier::LowerTier(const TierConfig& config, Clock& clock, bool count_references,
                     EvictionSink* sink)
    : config_(config), clock_(clock), count_references_(count_references), sink_(sink) {}

// A medium that cannot be opened refuses all blocks, and is not tried again.
BlockCacheImpl* LowerTier::open_now() {
  if (BlockCacheImpl* const cache = opened(); cache != nullptr) return cache;
  // An exception leaves the tier unopened, and the next put tries again.
  try {
    open_once();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return opened();
}

void LowerTier::open_once() {
  std::call_once(once_, [this] {
    const auto fail = [this](const absl::Status& status) {
      problem_ = status;
      off_.store(true, std::memory_order_release);
    };
    const Config& config = config_.cache;
    absl::StatusOr<std::unique_ptr<Medium>> medium =
        open_medium(config.medium, options_of_medium(config), clock_);
    if (!medium.ok()) return fail(medium.status());
    absl::StatusOr<std::unique_ptr<BlockCacheImpl>> cache = BlockCacheImpl::make(
        config, *std::move(medium), clock_, {.count_references = count_references_, .sink = sink_});
    if (!cache.ok()) return fail(cache.status());
    owned_ = *std::move(cache);
    // Sequentially consistent, as is the change of the generation in
    // TieredCacheImpl::supersede(): either that sees this cache and erases the key from it,
    // or the first put here sees the changed generation.
    cache_.store(owned_.get(), std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

absl::Status LowerTier::open_if_warm() {
  if (!config_.restarts_warm() || open_now() != nullptr) return absl::OkStatus();
  if (off_.load(std::memory_order_acquire)) return problem_;
  return absl::ResourceExhaustedError("no memory for a tier of a cache");
}

bool LowerTier::put(const BlockKey& key, ByteView block, Arrival arrival,
                    const std::atomic<uint32_t>& generation, uint32_t expected) {
  BlockCacheImpl* const cache = open_now();
  if (test_hooks.skip_tokens) expected = generation.load();
  const Verdict verdict = cache == nullptr
                              ? Verdict::refuse(Reason::kMediumFailed)
                              : cache->put_if(key, block, Origin::kRead, generation, expected);
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
  return counts ? cache->lookup_counted(key, references) : cache->lookup(key, {.caller = caller});
}

void LowerTier::erase(const BlockKey& key) {
  if (BlockCacheImpl* const cache = opened(); cache != nullptr) cache->erase(key);
}

void LowerTier::supersede(const BlockKey& key) {
  const bool may_differ = !config_.cache.immutable_keys && !test_hooks.restore_superseded;
  if (may_differ) return erase(key);
  if (BlockCacheImpl* const cache = opened(); cache != nullptr) cache->erase_dead(key);
}

void LowerTier::clear() {
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
