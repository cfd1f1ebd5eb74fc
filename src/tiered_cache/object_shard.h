// One shard of the first tier of a TieredCache: the objects whose keys hash to it, found
// by key, evicted least recently released first.
//
// Which value of a key is current changes only here, under the shard's lock: that is
// what keeps the lower tiers from serving a value that was replaced (see Below).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "tiered_cache/object_entry.h"
#include "tiered_cache/object_lists.h"
#include "tiered_cache/object_table.h"

namespace nvcache {

// The tiers below, as a shard sees them. Called with the key's shard locked; touches no
// medium and calls nobody back.
class Below {
 public:
  virtual ~Below() = default;

  // Changes whenever supersede() is called for the key; even when no change is under way.
  virtual uint32_t token(uint64_t hash) const = 0;
  // Erases the key from all lower tiers, and makes worthless all moves of its block that
  // are under way with an older token.
  virtual void supersede(std::string_view key, uint64_t hash) = 0;
};

// Entries on their way out, out of every table and list, with `departure` and `token`
// set. Whoever holds the list ends them, with no lock held.
class Leaving {
 public:
  void push(ObjectEntry* entry) {
    entry->next_in_bucket = first_;
    first_ = entry;
  }
  ObjectEntry* pop() {
    ObjectEntry* const entry = first_;
    if (entry != nullptr) first_ = entry->next_in_bucket;
    return entry;
  }

 private:
  ObjectEntry* first_ = nullptr;
};

// Thread-safe. Calls no engine code; never waits for anything but its lock. On cache lines of
// its own, for every lookup locks one.
class alignas(64) ObjectShard {
 public:
  struct Options {
    size_t capacity_bytes = 0;
    bool strict = false;
    double high_share = 0.5;
    double low_share = 0;
    bool charge_metadata = true;
  };

  struct Use {
    size_t charged_bytes = 0;   // residents, and what was erased while it is held
    size_t idle_bytes = 0;      // of them: held by nobody
    size_t visiting_bytes = 0;  // held, and never resident
    size_t entries = 0;
    size_t buckets = 0;
    uint64_t lookups = 0;
    uint64_t hits = 0;
    uint64_t inserts = 0;
    uint64_t promoted_in = 0;
  };

  ObjectShard(const Options& options, Below* below);
  ~ObjectShard();  // empty, and nothing held

  // Makes an entry resident, in place of one with its key. False, and nothing changed,
  // if `hold` is asked for and a full shard is strict. Without `hold`, an entry that does
  // not fit leaves at once, as evicted. *replaced: whether there was one with its key.
  bool insert(ObjectEntry* entry, bool hold, Leaving* leaving, bool* replaced);

  // Makes an entry resident and held, unless its key has changed since `token` or is
  // resident: then false, and nothing changed.
  bool promote(ObjectEntry* entry, uint32_t token, Leaving* leaving);

  // Makes an evicted entry that went nowhere yet resident and held again, as a hit that
  // find() did not see. False, and nothing changed, if its key has changed since it left, or
  // a strict shard is full.
  bool restore(ObjectEntry* entry, bool count, Leaving* leaving);

  // Takes a key's value out of all tiers; its token from now on.
  uint32_t replace(std::string_view key, uint64_t hash, Leaving* leaving);

  // Counts a held entry that will not be resident.
  void visit(ObjectEntry* entry);

  // Holds the entry of a key; null if there is none. Counts the lookup.
  ObjectEntry* find(std::string_view key, uint64_t hash, bool count);

  void ref(ObjectEntry* entry);
  // True if it was the last reference and the entry leaves.
  bool release(ObjectEntry* entry, bool erase_if_last, Leaving* leaving);

  void set_capacity(size_t capacity_bytes, Leaving* leaving);
  void set_strict(bool strict);
  void erase_idle(Leaving* leaving);

  // Holds the entries of some buckets from `*bucket` on, without changing their order;
  // false when there are no more.
  bool inspect(size_t* bucket, std::vector<ObjectEntry*>* held);

  Use use() const;
  // Share of the capacity that is taken.
  double used_share() const;
  size_t charge_of(const ObjectEntry& entry) const { return lists_.charge_of(entry); }

 private:
  void make_room(size_t charge_bytes, Leaving* leaving) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void take_out(ObjectEntry* entry, Departure departure, Leaving* leaving)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether it replaced another.
  bool enter(ObjectEntry* entry, Leaving* leaving) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void leave(ObjectEntry* entry, Departure departure, Leaving* leaving)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void size_pools() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Below* const below_;
  const double high_share_;
  const double low_share_;
  mutable Mutex mutex_;
  ObjectTable table_ ABSL_GUARDED_BY(mutex_);
  ObjectLists lists_;  // guarded by mutex_, but for charge_of()
  size_t capacity_bytes_ ABSL_GUARDED_BY(mutex_);
  bool strict_ ABSL_GUARDED_BY(mutex_);
  Use use_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace nvcache
