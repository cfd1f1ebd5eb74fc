// One shard of a block cache: the blocks whose keys hash to it, with their index, their eviction
// policy and their metadata. All shards share the space on the medium, so one shard may evict to
// make room for a block of another.
//
// The calls of a lookup and of a finished write take no lock: find_and_pin(), find_slot(),
// contains(), entry(), on_hit(), unpin(), publish(), publish_pinned(), the checksums,
// add_reference(), evicts() and evicts_in_passes(). unpin() takes the lock only to free a removed
// block whose last pin it drops. offer(), outranks_victim() and begin_pass() lock it only where the
// policy holds a contest or evicts in passes. The policy calls slot_limit() and evictable() under
// the lock. All other functions lock the shard. Lock order: shard, then space. No shard locks
// another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/hash.h"
#include "base/mutex.h"
#include "base/reserved_array.h"
#include "block_cache/api/counters.h"
#include "block_cache/index/block_index.h"
#include "block_cache/index/entry.h"
#include "block_cache/index/entry_pool.h"
#include "block_cache/index/erased_keys.h"
#include "block_cache/index/recovered_block.h"
#include "block_cache/io/space.h"
#include "nvcache/block_key.h"
#include "nvcache/erase.h"
#include "nvcache/eviction_policy.h"
#include "nvcache/function_ref.h"
#include "nvcache/verdict.h"

namespace nvcache {

// A pinned block: where it lies, and the slot that unpins it.
struct PinnedBlock {
  static constexpr uint32_t kNone = ~uint32_t{0};

  uint32_t slot = kNone;
  EntryWord word;

  bool found() const { return slot != kNone; }
};

// Takes the blocks that a cache evicts, for the next tier of a TieredCache.
class EvictionSink {
 public:
  virtual ~EvictionSink() = default;

  // The key's token. Called with the block's shard locked, while the block is in the cache.
  virtual uint32_t token_of(const BlockKey& key) = 0;
  // Called without a lock. The cache keeps the block's space until this returns.
  virtual void take(const BlockKey& key, ByteView block, uint32_t token) = 0;
};

// A block that has left the index. One pin keeps its space and its slot.
struct DetachedBlock {
  uint32_t slot = 0;
  EntryWord word;
  BlockKey key;
  uint32_t token = 0;
};

// The fate of a block whose region is emptied.
struct Evacuation {
  enum class What : uint8_t { kAbsent, kKept, kEvicted };

  What what = What::kAbsent;
  // kKept: it is still live, to be written again. The caller has pinned it, unless it is absent.
  DetachedBlock block;
};

class Shard final : public Residents {
 public:
  struct Options {
    uint32_t max_slots = 0;
    uint64_t hash_seed = 0;
    bool checksums = false;
    bool references = false;  // count them
  };

  Shard(const Options& options, std::unique_ptr<EvictionPolicy> policy, EntryPool& pool,
        Space& space, Counters& counters);

  // Lock-free. Finds a live block and pins it.
  PinnedBlock find_and_pin(uint64_t hash, const BlockKey& key);
  // The slot of a block that is live, or on its way to the medium.
  std::optional<uint32_t> find_slot(uint64_t hash, const BlockKey& key) const;
  void on_hit(uint32_t slot) { policy_->on_hit(slot); }
  void unpin(uint32_t slot) { unpin(entry(slot)); }
  void unpin(Entry& entry) {
    if (entry.unpin()) [[unlikely]]
      free_unpinned(entry);
  }
  Entry& entry(uint32_t slot) const {
    return chunks_[slot / EntryPool::kChunkEntries][slot % EntryPool::kChunkEntries];
  }
  // Frees a removed block whose last pin the caller dropped.
  void free_unpinned(Entry& entry);
  bool contains(uint64_t hash, const BlockKey& key) const;

  // Enters a block as filling, at an extent that the caller allocated. On failure the caller keeps
  // the extent. kStaleToken if `expected` is given and differs from `generation`. If the shard is
  // out of slots, evicts a block, whether admission lets blocks be evicted or not.
  Reason reserve(uint64_t hash, const BlockKey& key, uint32_t size_bytes, uint64_t offset_grains,
                 const std::atomic<uint32_t>& generation, std::optional<uint32_t> expected,
                 uint32_t* slot);
  void set_checksum(uint32_t slot, uint32_t checksum) { checksums_[slot] = checksum; }
  uint32_t checksum(uint32_t slot) const { return checksums_[slot]; }

  // The write of a filling block is done. Readers see the block from here on.
  void publish(uint32_t slot);
  // Like publish(), but keeps the writer's pin: the caller must unpin the slot in every case.
  void publish_pinned(uint32_t slot);
  // A filling block is not written after all: removes it. `failed`: by a fault of the medium.
  void abandon(uint32_t slot, bool failed = false);

  // The contest for room (nvcache/eviction_policy.h); both are true where the policy holds none.
  // Counts the offer of a block that is not here. False if the cache has no room for it and it is
  // worth less than the blocks that may leave.
  bool offer(uint64_t hash, uint32_t size_bytes) {
    return contest_ == nullptr || offer_to_contest(hash, size_bytes);
  }
  // Whether the block is worth more than one that may leave.
  bool outranks_victim(uint64_t hash) { return contest_ == nullptr || win_contest(hash); }

  // Evicts the policy's next victim. Returns the block's bytes, 0 if the policy names none.
  uint32_t evict_one();
  // Like evict_one(), but keeps the block's bytes until the caller unpins the slot.
  std::optional<DetachedBlock> detach_one(EvictionSink& sink);

  // For a space in regions (shard_regions.cc). From here on keys that are erased for good are
  // noted, and their blocks stay away. Throws std::bad_alloc.
  void begin_recovery();
  // Returns the noted keys; null without a begin.
  std::unique_ptr<ErasedKeys> end_recovery();
  // Makes room in the index for that many more blocks.
  void expect_blocks(uint64_t blocks);
  // Enters blocks that lie on the medium already, and says of each whether it is in. They are live
  // at once, and displace no others: not if the key is in, was erased, or no slot is free.
  void restore(std::span<RecoveredBlock> blocks);
  // The block of this key at this place has to leave it: evicts it, or keeps it if it `may_stay`
  // and the policy finds it worth a second write. `sink` may be null.
  Evacuation evacuate(uint64_t hash, const BlockKey& key, uint64_t offset_grains, bool may_stay,
                      EvictionSink* sink);
  // Evicts what reaches into a range of places.
  uint64_t evict_between(uint64_t first_grain, uint64_t end_grain);
  // Removes the block of this key if it is at this place: the medium failed to write it.
  void lose(uint64_t hash, const BlockKey& key, uint64_t offset_grains);

  // Counts a reference to a slot's block. Returns its references since it came, this one included,
  // at most 255. Only with Options::references. A slot that is not pinned may belong to another
  // block by this time, which then gets the count.
  uint32_t add_reference(uint32_t slot);
  // Whether blocks ever leave for others.
  bool evicts() const { return policy_->evicts(); }
  // Whether blocks are evicted in passes only (nvcache/eviction_policy.h).
  bool evicts_in_passes() const { return passes_ != nullptr; }
  // Starts a pass of such a policy, which evict_one() then carries out.
  void begin_pass(uint64_t now_ns, double share);

  // Removes a block by key; says whether it was there. For good: it does not come back after a
  // restart, and its generation, if given, moves on, whether the block is there or not.
  bool erase(uint64_t hash, const BlockKey& key, Gone gone, std::atomic<uint32_t>* generation);
  // Removes a block that was damaged when it was read, if no other thread has removed it. The
  // caller has pinned it.
  void remove_damaged(uint64_t hash, uint32_t slot) { remove_if_live(hash, slot, Cause::kDamaged); }
  // Like remove_damaged(), for a block that the medium failed to read.
  void remove_unreadable(uint64_t hash, uint32_t slot) {
    remove_if_live(hash, slot, Cause::kFailed);
  }
  // All of a file, and all there is: for good.
  uint64_t erase_file(uint64_t file);
  uint64_t erase_all();
  // These may come back after a restart.
  uint64_t erase_matching(FunctionRef<bool(const BlockKey&)> matches);

  uint64_t metadata_bytes() const;

  // Residents. The policy calls them under the shard's lock.
  uint32_t slot_limit() const override {
    mutex_.assert_held();
    return slot_limit_;
  }
  bool evictable(uint32_t slot) const override {
    const EntryWord word = entry(slot).word();
    return word.state() == EntryWord::kLive && word.pins() == 0;
  }
  uint64_t key_hash(uint32_t slot) const override { return hash_of(slot); }

 private:
  static constexpr uint32_t kNoSlot = ~uint32_t{0};

  enum class Cause { kEvicted, kErased, kDamaged, kFailed, kAbandoned };

  PinnedBlock find_and_pin_thoroughly(uint64_t hash, const BlockKey& key);
  uint64_t hash_of(uint32_t slot) const { return hash_key(entry(slot).key(), hash_seed_); }
  uint32_t take_slot() NVCACHE_REQUIRES(mutex_);
  // Takes a block out of the index. Frees it, or leaves that to its last pin.
  void remove(uint64_t hash, uint32_t slot, Cause cause) NVCACHE_REQUIRES(mutex_);
  void forget(uint64_t hash, uint32_t slot, Cause cause) NVCACHE_REQUIRES(mutex_);
  void free_slot(uint32_t slot) NVCACHE_REQUIRES(mutex_);
  void unpin_locked(Entry& entry) NVCACHE_REQUIRES(mutex_);
  void remove_if_live(uint64_t hash, uint32_t slot, Cause cause);
  // A slot whose entry is reserved or restored.
  void enter(uint64_t hash, uint32_t slot) NVCACHE_REQUIRES(mutex_);
  bool restore_locked(const RecoveredBlock& block) NVCACHE_REQUIRES(mutex_);
  uint32_t evict_one_locked() NVCACHE_REQUIRES(mutex_);
  bool offer_to_contest(uint64_t hash, uint32_t size_bytes);
  bool win_contest(uint64_t hash);
  template <typename Matches>
  uint64_t remove_matching(Cause cause, Matches&& matches);

  const uint32_t max_slots_;
  const uint64_t hash_seed_;
  EntryPool& pool_;
  Space& space_;
  Counters& counters_;
  const std::unique_ptr<EvictionPolicy> policy_;
  Contest* const contest_;        // the policy's, or null
  EvictionPasses* const passes_;  // likewise
  BlockIndex index_;
  ReservedArray<Entry*> chunks_;  // of the pool; slot s is entry s % 256 of chunk s / 256
  ReservedArray<uint32_t> checksums_;
  ReservedArray<std::atomic<uint8_t>> references_;
  mutable Mutex mutex_;
  uint32_t slot_limit_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint32_t first_free_ NVCACHE_GUARDED_BY(mutex_) = kNoSlot;
  std::unique_ptr<ErasedKeys> erased_keys_ NVCACHE_GUARDED_BY(mutex_);  // while blocks come back
};

// Inline, and few instructions: what a lookup costs is how many of them the
// processor can have under way while it waits for memory.
[[gnu::always_inline]] inline PinnedBlock Shard::find_and_pin(uint64_t hash, const BlockKey& key) {
  const uint32_t slot = index_.probe(hash);
  if (slot < BlockIndex::kAbsent) [[likely]] {
    PinnedBlock found;
    Entry& candidate = entry(slot);
    if (candidate.has_key(key) && candidate.pin(found.word)) [[likely]] {
      if (candidate.has_key(key)) [[likely]] {
        found.slot = slot;
        return found;
      }
      unpin(candidate);  // reused for another key between the look and the pin
    }
  }
  return slot == BlockIndex::kAbsent ? PinnedBlock() : find_and_pin_thoroughly(hash, key);
}

}  // namespace nvcache
