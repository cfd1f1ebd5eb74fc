// The functions of a shard for a space in regions: blocks come back after a restart, leave with
// their region, or move to another one.
#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"
#include "block_cache/index/shard.h"

namespace nvcache {

void Shard::expect_blocks(uint64_t blocks) {
  MutexLock lock(mutex_);
  const uint64_t entries = std::min<uint64_t>(index_.entries() + blocks, max_slots_);
  index_.reserve(static_cast<uint32_t>(entries), [this](uint32_t slot) { return hash_of(slot); });
  if (checksums_.size() == 0 || entries <= slot_limit_) return;
  populate_reserved(&checksums_[slot_limit_], (entries - slot_limit_) * sizeof(uint32_t));
}

void Shard::begin_recovery() {
  MutexLock lock(mutex_);
  erased_keys_ = std::make_unique<ErasedKeys>();
}

std::unique_ptr<ErasedKeys> Shard::end_recovery() {
  MutexLock lock(mutex_);
  return std::move(erased_keys_);
}

void Shard::restore(std::span<RecoveredBlock> blocks) {
  constexpr size_t kBlocksPerLock = 256;  // some 10 us
  constexpr size_t kAhead = 16;           // as many cache misses at a time
  while (!blocks.empty()) {
    const auto some = blocks.first(std::min(blocks.size(), kBlocksPerLock));
    blocks = blocks.subspan(some.size());
    for (const RecoveredBlock& block : some.first(std::min(some.size(), kAhead))) {
      index_.prefetch(block.hash);
    }
    uint64_t count = 0;
    uint64_t size_bytes = 0;
    MutexLock lock(mutex_);
    for (size_t i = 0; i < some.size(); ++i) {
      if (i + kAhead < some.size()) index_.prefetch(some[i + kAhead].hash);
      some[i].is_in = restore_locked(some[i]);
      count += some[i].is_in ? 1 : 0;
      size_bytes += some[i].is_in ? some[i].size_bytes : 0;
    }
    counters_.add(Count::kRecovered, count);
    counters_.add(Count::kRecoveredBytes, size_bytes);
  }
}

bool Shard::restore_locked(const RecoveredBlock& block) try {
  if (block.is_gone || (erased_keys_ != nullptr && erased_keys_->covers(block.key))) return false;
  if (find_slot(block.hash, block.key)) return false;
  // Older blocks come last: they do not displace those that are in.
  if (first_free_ == kNoSlot && slot_limit_ == max_slots_) return false;
  const uint32_t slot = take_slot();
  NVCACHE_ASSERT(slot != kNoSlot);
  if (checksums_.size() > 0) checksums_[slot] = block.checksum;
  entry(slot).restore(block.key, block.size_bytes, block.place);
  enter(block.hash, slot);
  return true;
} catch (const std::bad_alloc&) {
  return false;
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
