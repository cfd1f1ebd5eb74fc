// One shard of the first tier of a TieredCache: it holds the objects whose keys hash to it,
// finds them by key, and evicts what was not used lately.
//
// A hit, a miss and a release take no lock and write no line but the entry's and the thread's own
// counters. Each change of the table is a Sequence::Change: a lookup that found nothing and saw one
// looks again, with the lock.
//
// The current value of a key changes only here, under the shard's lock. That keeps the lower
// tiers from serving a value that was replaced (see LowerTiers).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/sequence.h"
#include "tiered_cache/object_entry.h"
#include "tiered_cache/object_lists.h"
#include "tiered_cache/object_pool.h"
#include "tiered_cache/object_table.h"
#include "tiered_cache/shared_room.h"
#include "tiered_cache/tier_counters.h"

namespace nvcache {

// The lower tiers, as a shard sees them. A shard calls token() and supersede() with its lock held,
// so that they access no medium and call no engine back.
class LowerTiers {
 public:
  virtual ~LowerTiers() = default;

  // A number that each supersede() of the key changes. Even while no change is under way.
  virtual uint32_t token(uint64_t hash) const = 0;
  // Erases the key from all lower tiers. Moves of its block that began with an older token
  // will be refused.
  virtual void supersede(std::string_view key, uint64_t hash) = 0;
  // Demotes or destroys an entry that a shard removed. No lock is held.
  virtual void end_removed(ObjectEntry* entry) = 0;
};

// Entries that a shard removed: they are in no table and no list, and `departure` and `token` are
// set. It ends them when it goes, which must be where its user holds no lock.
class RemovedEntries {
 public:
  RemovedEntries() = default;
  ~RemovedEntries() {
    if (first_ != nullptr) [[unlikely]]
      end_all();
  }
  RemovedEntries(const RemovedEntries&) = delete;
  RemovedEntries& operator=(const RemovedEntries&) = delete;

  // `ender` is the same for all of them.
  void push(ObjectEntry* entry, LowerTiers* ender) {
    entry->next_removed = first_;
    first_ = entry;
    ender_ = ender;
  }

 private:
  void end_all();  // apart: a hit has none, and pays a comparison

  ObjectEntry* first_ = nullptr;
  LowerTiers* ender_;  // set by push()
};

// Thread-safe. Calls no engine code, and waits for nothing but its lock.
class alignas(64) ObjectShard {
 public:
  struct Use {
    size_t charged_bytes = 0;   // residents, and erased objects that are still held
    size_t visiting_bytes = 0;  // held objects that never were resident
    size_t outside_bytes = 0;   // of both: held, and not resident
    size_t pinned_bytes = 0;    // held; ObjectTier fills this
    size_t entries = 0;
    size_t buckets = 0;
  };

  // `room` and `counts` are for all shards, and must outlive this one.
  ObjectShard(bool charge_metadata, LowerTiers* lower_tiers, SharedRoom* room,
              TierCounters* counts);
  ~ObjectShard();  // must be empty, with nothing held

  // An entry outside, for a key of this shard; null if there is no memory. End it with destroy().
  ObjectEntry* make_entry(std::string_view key, uint64_t hash, const Object& object,
                          Priority priority) {
    return pool_.make(key, hash, object, priority, charge_metadata_);
  }
  void destroy(ObjectEntry* entry) { pool_.destroy(entry); }

  // Makes an entry resident and removes an older one of its key; *replaced says whether there
  // was one. kStale, without any change: the key has changed since `token`. kFull, without any
  // change: `hold` is set and the shard is strict and full. Without `hold`, an entry that does not
  // fit is evicted at once.
  enum class Entry : uint8_t { kDone, kStale, kFull };
  Entry insert(ObjectEntry* entry, bool hold, const MissToken& token, RemovedEntries* removed,
               bool* replaced);

  // Makes an entry resident and held. False, without any change, if its key has changed since
  // `token`, is resident already, or does not fit.
  bool promote(ObjectEntry* entry, uint32_t token, RemovedEntries* removed);

  // Makes an evicted entry that still waits for its demotion resident and held again, and
  // counts the hit that find() missed. False, without any change, if its key has changed since
  // it was evicted, or the shard is strict and full.
  bool restore(ObjectEntry* entry, bool count, RemovedEntries* removed);

  // Removes a key's value from all tiers. Returns the key's new token; none, without any change, if
  // the key has changed since `token`.
  std::optional<uint32_t> replace(std::string_view key, uint64_t hash, const MissToken& token,
                                  RemovedEntries* removed);

  // Holds an entry that will not be resident. False, without any change, if the shard is strict and
  // full of objects that are held.
  bool visit(ObjectEntry* entry, RemovedEntries* removed);
  // As visit(), whatever the limit is.
  bool visit_beyond_limit(ObjectEntry* entry);

  // Holds the entry of a key; null if there is none. Counts the lookup.
  ObjectEntry* find(std::string_view key, uint64_t hash, bool count, RemovedEntries* removed);

  void ref(ObjectEntry* entry);
  // True if that was the last reference and the entry was removed.
  bool release(ObjectEntry* entry, bool erase_if_last, RemovedEntries* removed);

  // Evicts what is beyond its part of the room and leaves in this step (ObjectLists). Whether it
  // has no more than its part then, whether it evicted any, and whether another step may.
  struct Shrunk {
    bool fits;
    bool evicted;
    bool has_more;
  };
  Shrunk evict_beyond_part(size_t step, RemovedEntries* removed);
  void erase_idle(RemovedEntries* removed);

  // Holds the entries of some buckets, from `*bucket` on, without counting as a use. False when
  // there are no more.
  bool inspect(size_t* bucket, std::vector<ObjectEntry*>* held);

  // Takes no lock: each number is right, but not all at the same moment.
  Use use() const;
  // The used share of the capacity.
  double used_share() const;

 private:
  ObjectEntry* find_locked(std::string_view key, uint64_t hash);
  void bring_back(ObjectEntry* entry);
  bool release_locked(ObjectEntry* entry, bool erase_if_last, RemovedEntries* removed);
  // Its part of the room.
  int64_t part_bytes() const NVCACHE_REQUIRES(mutex_) {
    return room_.even_part_bytes() + static_cast<int64_t>(large_bytes_);
  }
  // In a strict shard, held objects that never were resident take room, too.
  bool fits(size_t bytes) const NVCACHE_REQUIRES(mutex_) {
    const size_t visiting_bytes =
        room_.strict() ? visiting_bytes_.load(std::memory_order_relaxed) : 0;
    const size_t used_bytes = charged_bytes_.load(std::memory_order_relaxed) + visiting_bytes;
    return static_cast<int64_t>(used_bytes + bytes) <= part_bytes();
  }
  // A large object has taken its room already.
  static size_t wanted_bytes(const ObjectEntry& entry, const SharedRoom::Taken& taken) {
    return taken.is_large() ? 0 : entry.used_bytes;
  }
  bool has_room(const ObjectEntry& entry, const SharedRoom::Taken& taken) const
      NVCACHE_REQUIRES(mutex_) {
    return (taken.all_fit() || !room_.strict()) && fits(wanted_bytes(entry, taken));
  }
  void keep(SharedRoom::Taken* taken, ObjectEntry* entry) NVCACHE_REQUIRES(mutex_) {
    entry->large = taken->is_large();
    large_bytes_ += taken->keep();
  }
  // Written under the lock, read without it.
  static void add(std::atomic<size_t>& sum_bytes, size_t bytes) {
    sum_bytes.store(sum_bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  void make_room(size_t bytes, RemovedEntries* removed) NVCACHE_REQUIRES(mutex_);
  bool is_stale(uint64_t hash, const MissToken& token) const {
    return token.checked && lower_tiers_->token(hash) != token.generation;
  }
  void enter_as_visitor(ObjectEntry* entry) NVCACHE_REQUIRES(mutex_);
  // Whether it replaced another.
  bool enter(ObjectEntry* entry, SharedRoom::Taken* taken, uint32_t held_by, bool hit,
             RemovedEntries* removed) NVCACHE_REQUIRES(mutex_);
  void erase(ObjectEntry* entry, RemovedEntries* removed) NVCACHE_REQUIRES(mutex_);
  void take_out(ObjectEntry* entry, RemovedEntries* removed) NVCACHE_REQUIRES(mutex_);
  void leave(ObjectEntry* entry, Departure departure, RemovedEntries* removed)
      NVCACHE_REQUIRES(mutex_);
  // Of an entry that was not resident, after its last reference.
  void leave_outside(ObjectEntry* entry, RemovedEntries* removed) NVCACHE_REQUIRES(mutex_);
  void evict(ObjectEntry* victim, RemovedEntries* removed) NVCACHE_REQUIRES(mutex_);
  void note_part() NVCACHE_REQUIRES(mutex_);

  // Every lookup and release reads these.
  ObjectTable table_;  // changed under mutex_
  Sequence changes_;
  std::atomic<size_t> charged_bytes_{0};
  std::atomic<size_t> noted_part_bytes_{
      0};  // as it was when the shard was last locked for a change
  TierCounters& counts_;

  // Changes take these.
  alignas(64) mutable Mutex mutex_;
  LowerTiers* const lower_tiers_;
  SharedRoom& room_;
  const bool charge_metadata_;
  size_t large_bytes_ NVCACHE_GUARDED_BY(mutex_) = 0;  // that this shard's large objects took
  ObjectLists lists_ NVCACHE_GUARDED_BY(mutex_);
  std::atomic<size_t> visiting_bytes_{0};  // see Use
  std::atomic<size_t> outside_bytes_{0};
  ObjectPool pool_;
};

}  // namespace nvcache
