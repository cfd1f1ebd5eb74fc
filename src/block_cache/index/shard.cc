#include "block_cache/index/shard.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/test_hooks.h"

namespace nvcache {
namespace {
// How many slots remove_matching() looks at before it lets other threads have the lock.
constexpr uint32_t kSlotsPerLock = 1024;
}  // namespace

Shard::Shard(const Options& options, std::unique_ptr<EvictionPolicy> policy, EntryPool& pool,
             Space& space, Counters& counters)
    : max_slots_(options.max_slots),
      hash_seed_(options.hash_seed),
      pool_(pool),
      space_(space),
      counters_(counters),
      policy_(std::move(policy)),
      contest_(policy_->contest()),
      passes_(policy_->passes()),
      index_(options.max_slots),
      chunks_(options.max_slots / EntryPool::kChunkEntries + 1),
      checksums_(options.checksums ? options.max_slots : 0),
      references_(options.references ? options.max_slots : 0) {}

PinnedBlock Shard::find_and_pin_thoroughly(uint64_t hash, const BlockKey& key) {
  PinnedBlock found;
  index_.find(hash, [&](uint32_t slot) {
    Entry& candidate = entry(slot);
    if (!candidate.has_key(key) || !candidate.pin(found.word)) return false;
    if (!candidate.has_key(key)) {
      unpin(candidate);
      return false;
    }
    found.slot = slot;
    return true;
  });
  return found;
}

void Shard::free_unpinned(Entry& entry) {
  MutexLock lock(mutex_);
  free_slot(pool_.slot_of(entry));
}

bool Shard::contains(uint64_t hash, const BlockKey& key) const {
  return find_slot(hash, key).has_value();
}

std::optional<uint32_t> Shard::find_slot(uint64_t hash, const BlockKey& key) const {
  std::optional<uint32_t> found;
  index_.find(hash, [&](uint32_t slot) {
    if (!entry(slot).has_key(key)) return false;
    const EntryWord::State state = entry(slot).word().state();
    if (state != EntryWord::kLive && state != EntryWord::kFilling) return false;
    found = slot;
    return true;
  });
  return found;
}

Reason Shard::reserve(uint64_t hash, const BlockKey& key, uint32_t size_bytes,
                      uint64_t offset_grains, const std::atomic<uint32_t>& generation,
                      std::optional<uint32_t> expected, uint32_t* slot) {
  MutexLock lock(mutex_);
  // A change that erased its key here before is seen by the lock. One that saw no store here is
  // seen by the order of seq_cst alone: see LateBlockStore::open_now().
  if (expected && generation.load(std::memory_order_seq_cst) != *expected) {
    return Reason::kStaleToken;
  }
  if (find_slot(hash, key)) return Reason::kDuplicate;
  *slot = take_slot();
  if (*slot == kNoSlot) return Reason::kNoSpace;
  entry(*slot).reserve(key, size_bytes, offset_grains);
  enter(hash, *slot);
  counters_.add(Count::kInserts, 1);
  counters_.add(Count::kInsertedBytes, size_bytes);
  return Reason::kAdmitted;
}

void Shard::enter(uint64_t hash, uint32_t slot) {
  if (references_.size() > 0) references_[slot].store(0, std::memory_order_relaxed);
  index_.insert(hash, slot, [this](uint32_t other) { return hash_of(other); });
  policy_->on_insert(slot, hash);
}

uint32_t Shard::take_slot() {
  if (first_free_ == kNoSlot && slot_limit_ == max_slots_) evict_one_locked();
  if (first_free_ != kNoSlot) {
    const uint32_t slot = first_free_;
    NVCACHE_ASSERT_SLOW(slot < slot_limit_);
    first_free_ = entry(slot).next_free();
    return slot;
  }
  if (slot_limit_ == max_slots_) return kNoSlot;
  if (slot_limit_ % EntryPool::kChunkEntries == 0) {
    chunks_[slot_limit_ / EntryPool::kChunkEntries] = pool_.take_chunk(slot_limit_);
  }
  return slot_limit_++;
}

void Shard::publish(uint32_t slot) {
  if (!entry(slot).publish()) unpin(slot);
}

void Shard::publish_pinned(uint32_t slot) { entry(slot).publish_pinned(); }

void Shard::abandon(uint32_t slot, bool failed) {
  MutexLock lock(mutex_);
  if (entry(slot).word().state() == EntryWord::kFilling) {
    remove(hash_of(slot), slot, failed ? Cause::kFailed : Cause::kAbandoned);
  }
  if (entry(slot).unpin()) free_slot(slot);
}

bool Shard::offer_to_contest(uint64_t hash, uint32_t size_bytes) {
  const bool has_room = space_.has_room(size_bytes);
  MutexLock lock(mutex_);
  contest_->offer(hash);
  return has_room || contest_->outranks_victim(hash, *this);
}

bool Shard::win_contest(uint64_t hash) {
  MutexLock lock(mutex_);
  return contest_->outranks_victim(hash, *this);
}

void Shard::begin_pass(uint64_t now_ns, double share) {
  if (passes_ == nullptr) return;
  MutexLock lock(mutex_);
  passes_->begin_pass(*this, now_ns, share);
}

uint32_t Shard::evict_one() {
  MutexLock lock(mutex_);
  return evict_one_locked();
}

uint32_t Shard::evict_one_locked() {
  for (;;) {
    const std::optional<uint32_t> victim = policy_->next_victim(*this);
    if (!victim) return 0;
    NVCACHE_ASSERT_SLOW(*victim < slot_limit_);
    if (!entry(*victim).retire_unpinned()) continue;  // a reader pinned it since the policy looked
    const uint32_t size_bytes = entry(*victim).word().size_bytes();
    forget(hash_of(*victim), *victim, Cause::kEvicted);
    free_slot(*victim);
    return size_bytes;
  }
}

std::optional<DetachedBlock> Shard::detach_one(EvictionSink& sink) {
  MutexLock lock(mutex_);
  for (;;) {
    const std::optional<uint32_t> victim = policy_->next_victim(*this);
    if (!victim) return std::nullopt;
    NVCACHE_ASSERT_SLOW(*victim < slot_limit_);
    Entry& leaving = entry(*victim);
    DetachedBlock block{.slot = *victim, .word = {}, .key = leaving.key()};
    block.token = sink.token_of(block.key);
    if (!leaving.pin(block.word)) continue;
    // Readers who have pinned the block keep it as well; whoever unpins last frees the slot.
    (void)leaving.retire();
    forget(hash_of(*victim), *victim, Cause::kEvicted);
    return block;
  }
}

uint32_t Shard::add_reference(uint32_t slot) {
  std::atomic<uint8_t>& count = references_[slot];
  const uint8_t before = count.load(std::memory_order_relaxed);
  if (before == UINT8_MAX) return before;
  count.store(static_cast<uint8_t>(before + 1), std::memory_order_relaxed);
  return before + 1u;
}

bool Shard::erase(uint64_t hash, const BlockKey& key, Gone gone,
                  std::atomic<uint32_t>* generation) {
  MutexLock lock(mutex_);
  const std::optional<uint32_t> slot = find_slot(hash, key);
  if (gone != Gone::kMayReturn) {
    // Release, for KeyGenerations::token_of(): who gets the new token reads what the engine wrote
    // before this. The lock keeps what comes before it from nobody who does not take it.
    if (generation != nullptr) generation->fetch_add(1, std::memory_order_release);
    // Also if it was found: an older block of the key may not have come back.
    const bool note = erased_keys_ != nullptr && !(slot && test_hooks.forget_found);
    if (note) erased_keys_->add(key);
  }
  if (slot) remove(hash, *slot, Cause::kErased);
  return slot.has_value();
}

void Shard::remove_if_live(uint64_t hash, uint32_t slot, Cause cause) {
  MutexLock lock(mutex_);
  // The caller's pin keeps the slot from being reused, but another thread may have removed the
  // block.
  if (entry(slot).word().state() == EntryWord::kLive) remove(hash, slot, cause);
}

void Shard::remove(uint64_t hash, uint32_t slot, Cause cause) {
  const bool free_now = entry(slot).retire();
  forget(hash, slot, cause);
  if (free_now) free_slot(slot);
}

void Shard::forget(uint64_t hash, uint32_t slot, Cause cause) {
  index_.erase(hash, slot);
  policy_->on_remove(slot, hash, cause == Cause::kEvicted);
  counters_.add(Count::kRemovals, 1);
  counters_.add(Count::kRemovedBytes, entry(slot).word().size_bytes());
  if (cause == Cause::kEvicted) counters_.add(Count::kEvictions, 1);
  if (cause == Cause::kErased) counters_.add(Count::kErases, 1);
  if (cause == Cause::kDamaged) counters_.add(Count::kDamaged, 1);
  if (cause == Cause::kFailed) counters_.add(Count::kFailed, 1);
}

void Shard::free_slot(uint32_t slot) {
  const EntryWord word = entry(slot).word();
  space_.release(word.offset_grains(), word.size_bytes());
  entry(slot).make_free(first_free_);
  first_free_ = slot;
}

template <typename Matches>
uint64_t Shard::remove_matching(Cause cause, Matches&& matches) {
  uint64_t removed = 0;
  for (uint32_t first = 0;; first += kSlotsPerLock) {
    MutexLock lock(mutex_);
    if (first >= slot_limit_) return removed;
    const uint32_t end = std::min(slot_limit_, first + kSlotsPerLock);
    for (uint32_t slot = first; slot < end; ++slot) {
      const EntryWord word = entry(slot).word();
      if (word.state() != EntryWord::kLive && word.state() != EntryWord::kFilling) continue;
      if (!matches(entry(slot).key(), word)) continue;
      remove(hash_of(slot), slot, cause);
      ++removed;
    }
  }
}

uint64_t Shard::erase_file(uint64_t file) {
  {
    MutexLock lock(mutex_);
    if (erased_keys_ != nullptr) erased_keys_->add({file, kWholeFile});
  }
  return remove_matching(Cause::kErased,
                         [file](const BlockKey& key, EntryWord) { return key.file == file; });
}

uint64_t Shard::erase_matching(FunctionRef<bool(const BlockKey&)> matches) {
  return remove_matching(Cause::kErased,
                         [&](const BlockKey& key, EntryWord) { return matches(key); });
}

uint64_t Shard::erase_all() {
  {
    MutexLock lock(mutex_);
    if (erased_keys_ != nullptr) erased_keys_->add_all();
  }
  return remove_matching(Cause::kErased, [](const BlockKey&, EntryWord) { return true; });
}

uint64_t Shard::evict_between(uint64_t first_grain, uint64_t end_grain) {
  return remove_matching(Cause::kEvicted, [=, this](const BlockKey&, EntryWord word) {
    return word.offset_grains() < end_grain &&
           word.offset_grains() + space_.to_grains(word.size_bytes()) > first_grain;
  });
}

uint64_t Shard::metadata_bytes() const {
  MutexLock lock(mutex_);
  const uint64_t checksum_bytes = checksums_.size() > 0 ? sizeof(uint32_t) : 0;
  const uint64_t reference_bytes = references_.size() > 0 ? 1 : 0;
  return index_.metadata_bytes() +
         slot_limit_ * (sizeof(Entry) + checksum_bytes + reference_bytes) +
         policy_->metadata_bytes();
}

}  // namespace nvcache
