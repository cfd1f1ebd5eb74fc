// What a space in regions asks of a shard: blocks come back after a restart, leave with their
// region, or move to another one.
#include <algorithm>

#include "base/assert.h"
#include "block_cache/shard.h"

namespace nvcache {

void Shard::expect_blocks(uint64_t blocks) {
  MutexLock lock(mutex_);
  const uint64_t entries = std::min<uint64_t>(index_.entries() + blocks, max_slots_);
  index_.reserve(static_cast<uint32_t>(entries), [this](uint32_t slot) { return hash_of(slot); });
}

Reason Shard::restore(uint64_t hash, const BlockKey& key, uint32_t size_bytes,
                      uint64_t offset_grains, uint32_t checksum,
                      const std::atomic<uint32_t>& generation, uint32_t expected) {
  MutexLock lock(mutex_);
  if (generation.load(std::memory_order_relaxed) != expected) return Reason::kStaleToken;
  if (find_slot(hash, key)) return Reason::kDuplicate;
  // Older blocks come last: they do not displace those that are in.
  if (first_free_ == kNoSlot && slot_limit_ == max_slots_) return Reason::kNoSpace;
  const uint32_t slot = take_slot();
  NVCACHE_ASSERT(slot != kNoSlot);
  enter(hash, key, size_bytes, offset_grains, slot);
  if (checksums_.size() > 0) checksums_[slot] = checksum;
  const bool live = entry(slot).publish();
  NVCACHE_ASSERT(live);  // to retire it takes the lock
  counters_.add(Count::kRecovered, 1);
  counters_.add(Count::kRecoveredBytes, size_bytes);
  return Reason::kAdmitted;
}

Evacuation Shard::evacuate(uint64_t hash, const BlockKey& key, uint64_t offset_grains,
                           bool may_stay, EvictionSink* sink) {
  MutexLock lock(mutex_);
  const std::optional<uint32_t> slot = find_slot(hash, key);
  if (!slot) return {};
  Entry& leaving = entry(*slot);
  DetachedBlock block{.slot = *slot, .word = {}, .key = key};
  // A block with too many pins cannot be pinned once more: it leaves without being demoted.
  const bool pinned = leaving.pin(block.word);
  if (!pinned) block.word = leaving.word();
  if (block.word.state() != EntryWord::kLive || block.word.offset_grains() != offset_grains) {
    if (pinned) unpin_locked(leaving);
    return {};
  }
  if (pinned && may_stay && policy_->keeps(*slot)) return {Evacuation::What::kKept, block};
  if (pinned && sink != nullptr) block.token = sink->token_of(key);
  remove(hash, *slot, Cause::kEvicted);
  if (!pinned) return {};
  return {Evacuation::What::kEvicted, block};
}

void Shard::lose(uint64_t hash, const BlockKey& key, uint64_t offset_grains) {
  MutexLock lock(mutex_);
  const std::optional<uint32_t> slot = find_slot(hash, key);
  if (slot && entry(*slot).word().offset_grains() == offset_grains) {
    remove(hash, *slot, Cause::kFailed);
  }
}

void Shard::unpin_locked(Entry& entry) {
  if (entry.unpin()) free_slot(pool_.slot_of(entry));
}

}  // namespace nvcache
