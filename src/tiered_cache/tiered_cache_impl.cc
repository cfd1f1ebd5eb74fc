#include "tiered_cache/tiered_cache_impl.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/scratch.h"
#include "base/text.h"
#include "fmt/format.h"
#include "tiered_cache/tiered_key.h"

namespace nvcache {
namespace {
// A change of one key can refuse moves of others that share its generation; that is all.
constexpr size_t kGenerations = 16384;
constexpr size_t kMinGenerationsPerShard = 64;

// The queue comes on top of the first tier's capacity, so it is a small share of it.
constexpr size_t kMinQueueBytes = size_t{256} << 10;
constexpr size_t kMaxQueueBytes = size_t{8} << 20;

size_t queue_bytes(const TieredConfig& config) {
  return std::clamp<size_t>(config.dram_bytes / 32, kMinQueueBytes, kMaxQueueBytes);
}

Status problem_of_tier(size_t tier, const Status& problem) {
  return {problem.code(), fmt::format("tier {}: {}", tier, problem.message())};
}
}  // namespace

class TieredCacheImpl::Demoter final : public EvictionSink {
 public:
  Demoter(TieredCacheImpl& cache, size_t tier) : cache_(cache), tier_(tier) {}

  uint32_t token_of(const BlockKey& inside) override {
    return cache_.token(hash_block_key(cache_.lower_[tier_ - 1]->outside(inside)));
  }
  void take(const BlockKey& inside, ByteView block, uint32_t token) override {
    const BlockKey key = cache_.lower_[tier_ - 1]->outside(inside);
    if (!cache_.offer(key, block, tier_ + 1, Arrival::kDemoted, token)) {
      cache_.lower_[tier_ - 1]->count_dropped();
    }
  }

 private:
  TieredCacheImpl& cache_;
  const size_t tier_;  // the one that evicts
};

// ---- making and ending

StatusOr<std::unique_ptr<TieredCacheImpl>> TieredCacheImpl::make(const TieredConfig& config,
                                                                 std::shared_ptr<ObjectCodec> codec,
                                                                 Clock& clock,
                                                                 const OpenMedium& open_medium) {
  StatusOr<std::unique_ptr<PlacementPolicy>> placement = make_placement(config.policy);
  if (!placement.ok()) return placement.status();
  std::unique_ptr<TierShare> share;
  if (!config.tiers.empty() && !config.tiers.back().name.empty()) {
    StatusOr<std::unique_ptr<TierShare>> joined =
        TierShare::join(config.tiers.back(), config.owner);
    if (!joined.ok()) return problem_of_tier(config.tiers.size(), joined.status());
    share = *std::move(joined);
  }
  std::unique_ptr<TieredCacheImpl> cache(new TieredCacheImpl(
      config, std::move(codec), clock, *std::move(placement), open_medium, std::move(share)));
  for (size_t i = 0; i < cache->lower_.size(); ++i) {
    const Status opened = cache->lower_[i]->open_if_warm();
    if (!opened.ok()) return problem_of_tier(i + 1, opened);
  }
  return cache;
}

TieredCacheImpl::TieredCacheImpl(const TieredConfig& config, std::shared_ptr<ObjectCodec> codec,
                                 Clock& clock, std::unique_ptr<PlacementPolicy> placement,
                                 const OpenMedium& open_medium, std::unique_ptr<TierShare> share)
    : config_(config),
      codec_(std::move(codec)),
      placement_(std::move(placement)),
      objects_({.room = {.capacity_bytes = config.dram_bytes,
                         .strict = config.strict,
                         .high_share = config.high_ratio,
                         .low_share = config.low_ratio,
                         .shard_bits = config.shard_bits},
                .charge_metadata = config.charge_metadata},
               static_cast<LowerTiers*>(this)),
      generations_per_shard_(std::max(kMinGenerationsPerShard, kGenerations / objects_.shards())),
      generations_(objects_.shards() * generations_per_shard_),
      miss_timer_(clock) {
  for (size_t i = 0; i < config.tiers.size(); ++i) {
    const bool lowest = i + 1 == config.tiers.size();
    demoters_.push_back(lowest ? nullptr : std::make_unique<Demoter>(*this, i + 1));
    const LowerTier::Use use = {
        .count_references = config.tiers[i].threshold > 0 || placement_->threshold() > 0,
        .form = codec_->form()};
    lower_.push_back(lowest && share != nullptr
                         ? std::make_unique<LowerTier>(config.tiers[i], std::move(share), use)
                         : std::make_unique<LowerTier>(config.tiers[i], clock, use,
                                                       demoters_.back().get(), open_medium));
  }
  if (lower_.empty() || !config.demote_in_background) return;
  queue_ = std::make_unique<DemotionQueue>(
      queue_bytes(config),
      DemotionQueue::Work{.move = [this](const ObjectEntry& entry) { demote(entry); },
                          .end = [this](ObjectEntry* entry) { end(entry); }});
}

TieredCacheImpl::~TieredCacheImpl() {
  if (queue_ != nullptr && !queue_->is_in_this_process()) (void)queue_.release();
  const auto warm = [](const TierConfig& tier) { return tier.restarts_warm(); };
  if (queue_ != nullptr && std::ranges::any_of(config_.tiers, warm)) queue_->drain();
  queue_.reset();
  RemovedEntries removed;
  objects_.erase_idle(&removed);
}

void TieredCacheImpl::end_removed(ObjectEntry* entry) {
  if (entry->departure == Departure::kEvicted) {
    if (queue_ != nullptr && can_move(*entry)) {
      if (queue_->push(entry, entry->used_bytes)) return;
      objects_.counts().add(TierCount::kQueueFull, 1);
      // The queue's thread opens the tier, which may take long: then readers do without.
      if (queue_->has_thread() && !lower_.front()->was_tried_soon()) {
        objects_.counts().add(TierCount::kDropped, 1);
        return end(entry);
      }
    }
    demote(*entry);
  }
  end(entry);
}

void TieredCacheImpl::demote(const ObjectEntry& entry) {
  if (offer_object(entry, 1, Arrival::kDemoted, entry.token)) return;
  objects_.counts().add(TierCount::kDropped, 1);
}

ObjectEntry* TieredCacheImpl::take_back(std::string_view key, uint64_t hash, Caller caller) {
  ObjectEntry* const entry = queue_ == nullptr ? nullptr : queue_->take(key, hash);
  if (entry == nullptr) return nullptr;
  objects_.counts().add(TierCount::kTakenBack, 1);
  RemovedEntries removed;
  if (objects_.shard_of(hash).restore(entry, caller == Caller::kForeground, &removed)) return entry;
  demote(*entry);  // refused there if it was replaced
  end(entry);
  return nullptr;
}

void TieredCacheImpl::end(ObjectEntry* entry) {
  entry->source.reset();
  codec_->destroy(entry->key(), entry->object);
  objects_.shard_of(entry->hash).destroy(entry);
}

// ---- the moves

uint32_t TieredCacheImpl::token(uint64_t hash) const {
  return generations_[place_of(hash)].load(std::memory_order_acquire);
}

MissToken TieredCacheImpl::token(std::string_view key) const {
  return {.generation = token(hash_object_key(key)), .checked = true};
}

void TieredCacheImpl::supersede(std::string_view key, uint64_t hash) {
  std::atomic<uint32_t>& generation = generation_of(hash);
  BlockKey block_key;
  if (lower_.empty() || !parse_block_key(key, &block_key)) {
    generation.fetch_add(2, std::memory_order_seq_cst);
    return;
  }
  // Orders the change before the look at which tiers are open: see LateBlockStore::open().
  generation.fetch_add(1, std::memory_order_seq_cst);
  for (const auto& tier : lower_) tier->supersede(block_key);
  generation.fetch_add(1, std::memory_order_seq_cst);
}

bool TieredCacheImpl::can_move(const ObjectEntry& entry) const {
  return !lower_.empty() && entry.object.kind.movable && entry.key_bytes == kBlockKeyBytes &&
         entry.object.value != nullptr &&
         (entry.priority != Priority::kHigh || config_.demote_high);
}

bool TieredCacheImpl::offer_object(const ObjectEntry& entry, size_t tier, Arrival arrival,
                                   uint32_t token) {
  if (!can_move(entry) || !at_rest(token)) return false;
  const size_t size_bytes = codec_->saved_bytes(entry.object);
  if (size_bytes == 0 || size_bytes > kMaxBlockBytes) return false;
  const MutableBytes saved = thread_scratch(size_bytes);
  if (saved.empty() || !codec_->save(entry.object, saved)) return false;
  BlockKey key;
  return parse_block_key(entry.key(), &key) && offer(key, saved, tier, arrival, token);
}

bool TieredCacheImpl::offer(const BlockKey& key, ByteView block, size_t tier, Arrival arrival,
                            uint32_t token) {
  if (!at_rest(token)) return false;
  const std::atomic<uint32_t>& generation = generation_of(hash_block_key(key));
  for (; tier <= lower_.size(); ++tier) {
    if (lower_[tier - 1]->put(key, block, arrival, generation, token)) return true;
  }
  return false;
}

uint32_t TieredCacheImpl::threshold_of(size_t tier) const {
  if (placement_->threshold() == 0) return 0;
  const uint32_t own = lower_[tier - 1]->own_threshold();
  return own > 0 ? own : placement_->threshold();
}

bool TieredCacheImpl::may_promote(uint64_t hash, size_t tier, uint32_t references) {
  uint32_t threshold = threshold_of(tier);
  if (threshold == 0) return false;
  if (placement_->follows_use()) {
    threshold = threshold_in_use(threshold, tier == 1 ? objects_.shard_of(hash).used_share()
                                                      : lower_[tier - 2]->used_share());
  }
  return references > threshold;
}

// ---- TieredCache

Status TieredCacheImpl::insert(std::string_view key, const Object& object, Priority priority,
                               Handle** handle, bool* replaced, MissToken token) {
  bool had_older = false;
  if (replaced == nullptr) replaced = &had_older;
  *replaced = false;
  const uint64_t hash = hash_object_key(key);
  note_read(hash);
  ObjectShard& shard = objects_.shard_of(hash);
  ObjectEntry* const entry = shard.make_entry(key, hash, object, priority);
  if (entry == nullptr) {
    erase(key);
    if (handle == nullptr) codec_->destroy(key, object);
    return resource_exhausted_error("no memory for a cache entry");
  }
  const size_t tier = placement_->entry_tier(lower_.size() + 1);
  if (tier > 0 && can_move(*entry)) return insert_lower(entry, tier, handle, token);
  RemovedEntries removed;
  const ObjectShard::Entry inserted =
      shard.insert(entry, handle != nullptr, token, &removed, replaced);
  if (inserted == ObjectShard::Entry::kStale) return refuse_stale(entry, handle);
  if (inserted == ObjectShard::Entry::kFull) {
    erase(key);
    shard.destroy(entry);
    return resource_exhausted_error("the cache is full of blocks in use");
  }
  if (handle != nullptr) *handle = entry;
  return ok_status();
}

Status TieredCacheImpl::refuse_stale(ObjectEntry* entry, Handle** handle) {
  if (handle == nullptr) {
    end(entry);
  } else {
    objects_.shard_of(entry->hash).destroy(entry);  // the object stays the caller's
  }
  return aborted_error("the key was inserted or erased since its token was taken");
}

// The caller gets a handle even if no tier takes the block.
Status TieredCacheImpl::insert_lower(ObjectEntry* entry, size_t tier, Handle** handle,
                                     const MissToken& expected) {
  ObjectShard& shard = objects_.shard_of(entry->hash);
  RemovedEntries removed;
  const std::optional<uint32_t> token =
      shard.replace(entry->key(), entry->hash, expected, &removed);
  const bool refused = token && handle != nullptr && !shard.visit(entry, &removed);
  if (!token) return refuse_stale(entry, handle);
  if (refused) {
    shard.destroy(entry);
    return resource_exhausted_error("the cache is full of blocks in use");
  }
  if (offer_object(*entry, tier, Arrival::kNew, *token)) entry->tier = static_cast<uint8_t>(tier);
  if (handle == nullptr) {
    end(entry);
  } else {
    *handle = entry;
  }
  return ok_status();
}

TieredCache::Handle* TieredCacheImpl::standalone(std::string_view key, const Object& object,
                                                 bool beyond_limit) {
  const uint64_t hash = hash_object_key(key);
  ObjectShard& shard = objects_.shard_of(hash);
  ObjectEntry* const entry = shard.make_entry(key, hash, object, Priority::kLow);
  if (entry == nullptr) return nullptr;
  RemovedEntries removed;
  const bool held = beyond_limit ? shard.visit_beyond_limit(entry) : shard.visit(entry, &removed);
  if (held) return entry;
  shard.destroy(entry);
  return nullptr;
}

TieredCache::Handle* TieredCacheImpl::lookup(std::string_view key, const MakeObject* make,
                                             Caller caller) {
  const uint64_t hash = hash_object_key(key);
  {
    RemovedEntries removed;
    const bool count = caller == Caller::kForeground;
    if (ObjectEntry* const entry = objects_.shard_of(hash).find(key, hash, count, &removed)) {
      return entry;
    }
  }
  if (ObjectEntry* const entry = take_back(key, hash, caller)) return entry;
  BlockKey block_key;
  if (make == nullptr || lower_.empty() || !parse_block_key(key, &block_key)) return nullptr;
  const uint32_t now = token(hash);
  for (size_t tier = 1; tier <= lower_.size(); ++tier) {
    uint32_t references = 0;
    Lookup found = lower_[tier - 1]->lookup(block_key, caller, &references);
    if (!found.hit()) continue;
    if (caller == Caller::kForeground) objects_.counts().add(TierCount::kLowerHits, 1);
    return serve(key, hash, tier, std::move(found), references, now, *make);
  }
  if (caller == Caller::kForeground) miss_timer_.missed(hash);
  return nullptr;
}

ObjectEntry* TieredCacheImpl::serve(std::string_view key, uint64_t hash, size_t tier, Lookup found,
                                    uint32_t references, uint32_t token, const MakeObject& make) {
  BlockKey block_key;
  parse_block_key(key, &block_key);
  const ByteView saved = found.pin.bytes();
  Object object;
  if (!make(saved, &object)) {
    lower_[tier - 1]->erase(block_key);  // later lookups could not use it either
    return nullptr;
  }
  ObjectShard& shard = objects_.shard_of(hash);
  ObjectEntry* const entry = shard.make_entry(key, hash, object, Priority::kLow);
  if (entry == nullptr) {
    codec_->destroy(key, object);
    return nullptr;
  }
  if (at_rest(token) && may_promote(hash, tier, references) && promote(entry, tier, saved, token)) {
    return entry;
  }
  entry->tier = static_cast<uint8_t>(tier);
  // Without memory for the pin, the block may be evicted before the object is released.
  entry->source.reset(new (std::nothrow) Pin(std::move(found.pin)));
  RemovedEntries removed;
  if (shard.visit(entry, &removed)) return entry;
  end(entry);  // a miss: the engine's insertion of the block will be refused, and say why
  return nullptr;
}

bool TieredCacheImpl::promote(ObjectEntry* entry, size_t tier, ByteView saved, uint32_t token) {
  if (tier == 1) {
    RemovedEntries removed;
    return objects_.shard_of(entry->hash).promote(entry, token, &removed);
  }
  BlockKey key;
  parse_block_key(entry->key(), &key);
  if (lower_[tier - 2]->put(key, saved, Arrival::kPromoted, generation_of(entry->hash), token)) {
    lower_[tier - 1]->supersede(key);
  }
  return false;
}

void TieredCacheImpl::ref(Handle* handle) { objects_.shard_of(handle->hash).ref(handle); }

bool TieredCacheImpl::release(Handle* handle, bool erase_if_last) {
  ObjectShard& shard = objects_.shard_of(handle->hash);
  // Read first: another thread may drop the last reference after this one.
  const size_t tier = erase_if_last ? handle->tier : 0;
  BlockKey key;
  const bool below = tier > 0 && parse_block_key(handle->key(), &key);
  RemovedEntries removed;
  const bool left = shard.release(handle, erase_if_last, &removed);
  // A tier that refused it has handed it on.
  for (size_t at = tier; left && below && at <= lower_.size(); ++at) lower_[at - 1]->erase(key);
  return left;
}

void TieredCacheImpl::erase(std::string_view key) {
  const uint64_t hash = hash_object_key(key);
  RemovedEntries removed;
  (void)objects_.shard_of(hash).replace(key, hash, {}, &removed);
  BlockKey block_key;
  if (!parse_block_key(key, &block_key)) return;
  for (const auto& tier : lower_) {
    if (tier->may_return()) tier->erase(block_key);
  }
}

}  // namespace nvcache
