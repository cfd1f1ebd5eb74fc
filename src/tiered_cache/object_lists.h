// The objects of a shard, in the order in which they will be looked at for eviction: three lists,
// one for each pool.
//
// As in RocksDB's LRU cache ("midpoint insertion"): an object of high priority enters the high
// pool, if that pool has a share of the capacity. A pool that overflows spills its oldest
// objects to the front of the next lower pool. Victims come from the lowest pool that has
// any. So a scan evicts neither what was used twice nor index and filter blocks.
//
// Unlike there, a use moves nothing. An object whose turn comes and that was used since it entered
// the list enters again, in the pool for objects with a hit (CLOCK, with lists for hands).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tiered_cache/object_entry.h"

namespace nvcache {

// Caller-locked. Owns no entries. All entries in it are resident.
class ObjectLists {
 public:
  void set_pool_sizes(size_t high_bytes, size_t low_bytes) {
    limits_ = {high_bytes, low_bytes, 0};
    spill();
  }

  void add(ObjectEntry* entry) {
    append(entry, pool_for(*entry));
    spill();
  }
  void remove(ObjectEntry* entry) { unlink(entry); }

  // Takes out the next object to evict, which nobody holds, and which is not resident from then on.
  // Null if all are held, or `most_held` in a row: it goes on from there the next time.
  ObjectEntry* take_victim(size_t most_held) {
    size_t left = most_held;
    for (int round = 0; round < 2; ++round) {  // in the second, nobody has used one since the first
      for (size_t pool = kPools; pool-- > 0;) {
        if (ObjectEntry* const victim = take_victim_of(static_cast<uint8_t>(pool), &left)) {
          return victim;
        }
      }
    }
    return nullptr;
  }
  // Takes out all that nobody holds, and calls take(entry) for each.
  template <typename Take>
  void take_idle(Take take) {
    for (ObjectEntry* const oldest : oldest_) {
      for (ObjectEntry* entry = oldest; entry != nullptr;) {
        ObjectEntry* const next = entry->newer;
        if (entry->leave_if_idle()) {
          unlink(entry);
          take(entry);
        }
        entry = next;
      }
    }
  }

 private:
  enum Pool : uint8_t { kHigh, kLow, kBottom };
  static constexpr size_t kPools = 3;

  uint8_t pool_for(const ObjectEntry& entry) const {
    const bool hit = entry.was_hit();
    if (limits_[kHigh] > 0 && (hit || entry.priority == Priority::kHigh)) return kHigh;
    if (limits_[kLow] > 0 && (hit || entry.priority != Priority::kBottom)) return kLow;
    return kBottom;
  }

  ObjectEntry* take_victim_of(uint8_t pool, size_t* held_left) {
    for (size_t left = entries_[pool]; left > 0 && oldest_[pool] != nullptr; --left) {
      ObjectEntry* const entry = oldest_[pool];
      if (entry->take_use()) {
        unlink(entry);
        add(entry);
      } else if (entry->leave_if_idle()) {
        unlink(entry);
        return entry;
      } else {
        unlink(entry);
        append(entry, pool);
        if (*held_left == 0 || --*held_left == 0) return nullptr;
      }
    }
    return nullptr;
  }

  void append(ObjectEntry* entry, uint8_t pool) {
    entry->pool = pool;
    entry->older = newest_[pool];
    entry->newer = nullptr;
    (entry->older != nullptr ? entry->older->newer : oldest_[pool]) = entry;
    newest_[pool] = entry;
    bytes_[pool] += entry->used_bytes;
    ++entries_[pool];
  }

  void unlink(ObjectEntry* entry) {
    (entry->older != nullptr ? entry->older->newer : oldest_[entry->pool]) = entry->newer;
    (entry->newer != nullptr ? entry->newer->older : newest_[entry->pool]) = entry->older;
    entry->older = entry->newer = nullptr;
    bytes_[entry->pool] -= entry->used_bytes;
    --entries_[entry->pool];
  }

  void spill() {
    for (const uint8_t pool : {uint8_t{kHigh}, uint8_t{kLow}}) {
      while (bytes_[pool] > limits_[pool]) {
        ObjectEntry* const entry = oldest_[pool];
        unlink(entry);
        append(entry, static_cast<uint8_t>(pool + 1));
      }
    }
  }

  std::array<ObjectEntry*, kPools> oldest_{};
  std::array<ObjectEntry*, kPools> newest_{};
  std::array<size_t, kPools> bytes_{};
  std::array<size_t, kPools> entries_{};
  std::array<size_t, kPools> limits_{};
};

}  // namespace nvcache
