// What a space in regions asks of a shard: blocks leave with their region, or move to another one.
#include "block_cache/shard.h"

namespace nvcache {

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
