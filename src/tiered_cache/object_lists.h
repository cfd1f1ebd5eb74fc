// The objects of a shard, in the order in which they will be looked at for eviction: three lists,
// one for each pool.
//
// As in RocksDB's LRU cache ("midpoint insertion"): an object of high priority enters the high
// pool, if that pool has a share of the capacity. A pool that overflows spills its oldest
// objects to the front of the next lower pool. Victims come from the lowest pool that has
// any. So a scan evicts neither what was used twice nor index and filter blocks. A pool's limit is
// the shard's part of that of the whole cache (SharedRoom).
//
// Unlike there, a use moves nothing. An object whose turn comes and that was used since it entered
// the list enters again, in the pool for objects with a hit (CLOCK, with lists for hands). One that
// is held then is parked: it is in no list until its last release brings it back. So each held
// object is passed over once, however many there are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "tiered_cache/object_entry.h"
#include "tiered_cache/shared_room.h"

namespace nvcache {

// Caller-locked. Owns no entries. All entries in it are resident, and not parked.
class ObjectLists {
 public:
  explicit ObjectLists(SharedRoom& room) : room_(room) {}

  void add(ObjectEntry* entry) {
    append(entry, pool_for(*entry));
    spill();
  }
  // Of a resident entry, which may be parked.
  void remove(ObjectEntry* entry) {
    if (!entry->is_parked()) unlink(entry);
  }
  // After the last release of a parked entry. Its memory may be that of another entry by now, or of
  // none.
  void bring_back(ObjectEntry* entry) {
    if (entry->unpark()) add(entry);
  }
  bool empty() const { return entries_ == std::array<size_t, kPools>{}; }
  // After a change of the capacity.
  void spill() {
    for (const Pool pool : {Pool::kHigh, Pool::kLow}) {
      while (oldest_[pool] != nullptr && bytes_[pool] > limit_of(pool)) {
        ObjectEntry* const entry = oldest_[pool];
        unlink(entry);
        append(entry, static_cast<uint8_t>(pool + 1));
      }
    }
  }

  // Eviction looks at each pool, the lowest first; then once more, when most of them are not used
  // them since; then no matter what was used.
  static constexpr size_t kSteps = 3 * SharedRoom::kPools;
  // Takes out the next object to evict, which is not held, and not resident from then on.
  // Null if this step has none. *held_left: how many that are held it may park; the next call goes
  // on from there.
  ObjectEntry* take_victim(size_t step, size_t* held_left) {
    const size_t pool = SharedRoom::kPools - 1 - step % SharedRoom::kPools;
    return take_victim_of(static_cast<uint8_t>(pool), step < 2 * SharedRoom::kPools, held_left);
  }
  ObjectEntry* take_victim(size_t most_held) {
    for (size_t step = 0; step < kSteps; ++step) {
      if (ObjectEntry* const victim = take_victim(step, &most_held)) return victim;
    }
    return nullptr;
  }
  // Takes out all that are not held, and calls take(entry) for each.
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
  using Pool = SharedRoom::Pool;
  static constexpr size_t kPools = SharedRoom::kPools;

  int64_t limit_of(uint8_t pool) const { return room_.pool_part_bytes(pool) + large_bytes_[pool]; }
  uint8_t pool_for(const ObjectEntry& entry) const {
    const bool hit = entry.was_hit();
    if (room_.has_pool(Pool::kHigh) && (hit || entry.priority == Priority::kHigh))
      return Pool::kHigh;
    if (room_.has_pool(Pool::kLow) && (hit || entry.priority != Priority::kBottom))
      return Pool::kLow;
    return Pool::kBottom;
  }

  ObjectEntry* take_victim_of(uint8_t pool, bool spare_used, size_t* held_left) {
    if (*held_left == 0) return nullptr;
    for (size_t left = entries_[pool]; left > 0 && oldest_[pool] != nullptr; --left) {
      ObjectEntry* const entry = oldest_[pool];
      if (entry->park()) {
        unlink(entry);
        if (--*held_left == 0) return nullptr;
      } else if (entry->take_use() && spare_used) {
        unlink(entry);
        add(entry);
      } else if (entry->leave_if_idle()) {
        unlink(entry);
        return entry;
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
    bytes_[pool] += static_cast<int64_t>(entry->used_bytes);
    ++entries_[pool];
    if (!entry->large) return;
    large_bytes_[pool] += static_cast<int64_t>(entry->used_bytes);
    room_.enter_pool(pool, entry->used_bytes);
  }

  void unlink(ObjectEntry* entry) {
    NVCACHE_ASSERT(entries_[entry->pool] > 0);
    (entry->older != nullptr ? entry->older->newer : oldest_[entry->pool]) = entry->newer;
    (entry->newer != nullptr ? entry->newer->older : newest_[entry->pool]) = entry->older;
    entry->older = entry->newer = nullptr;
    bytes_[entry->pool] -= static_cast<int64_t>(entry->used_bytes);
    --entries_[entry->pool];
    NVCACHE_ASSERT_SLOW(entries_[entry->pool] > 0 || bytes_[entry->pool] == 0);
    if (!entry->large) return;
    large_bytes_[entry->pool] -= static_cast<int64_t>(entry->used_bytes);
    room_.leave_pool(entry->pool, entry->used_bytes);
  }

  std::array<ObjectEntry*, kPools> oldest_{};
  std::array<ObjectEntry*, kPools> newest_{};
  std::array<int64_t, kPools> bytes_{};
  std::array<int64_t, kPools> large_bytes_{};  // of these
  std::array<size_t, kPools> entries_{};
  SharedRoom& room_;
};

}  // namespace nvcache
