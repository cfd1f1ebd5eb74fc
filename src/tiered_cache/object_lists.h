// The idle objects of a shard, in the order in which they will be evicted: three lists, one
// for each pool, each sorted by when its objects were last released.
//
// As in RocksDB's LRU cache ("midpoint insertion"): an object with a hit, or of high
// priority, enters the high pool, if that pool has a share of the capacity. A pool that
// overflows spills its oldest objects to the front of the next lower pool. Victims come
// from the lowest pool that has any. So a scan evicts neither what was used twice nor index
// and filter blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tiered_cache/object_entry.h"

namespace nvcache {

// Caller-locked. Owns no entries.
class ObjectLists {
 public:
  void set_pool_sizes(size_t high_bytes, size_t low_bytes) {
    limits_ = {high_bytes, low_bytes, 0};
    spill();
  }

  void add(ObjectEntry* entry, size_t charge_bytes) {
    const uint8_t pool = pool_for(*entry);
    append(entry, pool);
    bytes_[pool] += charge_bytes;
    spill();
  }

  void remove(ObjectEntry* entry, size_t charge_bytes) {
    bytes_[entry->pool] -= charge_bytes;
    unlink(entry);
  }

  // The next object to evict; null if there is none. Skips objects that are held all the same,
  // by ObjectShard::inspect().
  ObjectEntry* victim() const {
    for (size_t pool = kPools; pool-- > 0;) {
      for (ObjectEntry* entry = oldest_[pool]; entry != nullptr; entry = entry->newer) {
        if (entry->references == 0) return entry;
      }
    }
    return nullptr;
  }

  size_t bytes() const { return bytes_[kHigh] + bytes_[kLow] + bytes_[kBottom]; }
  size_t high_bytes() const { return bytes_[kHigh]; }

  // Whether metadata counts towards an entry's charge. spill() needs to know.
  void charge_metadata(bool charged) { charge_metadata_ = charged; }
  size_t charge_of(const ObjectEntry& entry) const {
    return entry.object.charge_bytes + (charge_metadata_ ? entry.size_bytes() : 0);
  }

 private:
  enum Pool : uint8_t { kHigh, kLow, kBottom };
  static constexpr size_t kPools = 3;

  uint8_t pool_for(const ObjectEntry& entry) const {
    if (limits_[kHigh] > 0 && (entry.was_hit || entry.priority == Priority::kHigh)) return kHigh;
    if (limits_[kLow] > 0 && (entry.was_hit || entry.priority != Priority::kBottom)) return kLow;
    return kBottom;
  }

  void append(ObjectEntry* entry, uint8_t pool) {
    entry->pool = pool;
    entry->older = newest_[pool];
    entry->newer = nullptr;
    (entry->older != nullptr ? entry->older->newer : oldest_[pool]) = entry;
    newest_[pool] = entry;
    entry->listed = true;
  }

  void unlink(ObjectEntry* entry) {
    (entry->older != nullptr ? entry->older->newer : oldest_[entry->pool]) = entry->newer;
    (entry->newer != nullptr ? entry->newer->older : newest_[entry->pool]) = entry->older;
    entry->older = entry->newer = nullptr;
    entry->listed = false;
  }

  void spill() {
    for (const uint8_t pool : {uint8_t{kHigh}, uint8_t{kLow}}) {
      while (bytes_[pool] > limits_[pool]) {
        ObjectEntry* const entry = oldest_[pool];
        const size_t charge_bytes = charge_of(*entry);
        unlink(entry);
        append(entry, static_cast<uint8_t>(pool + 1));
        bytes_[pool] -= charge_bytes;
        bytes_[pool + 1] += charge_bytes;
      }
    }
  }

  std::array<ObjectEntry*, kPools> oldest_{};
  std::array<ObjectEntry*, kPools> newest_{};
  std::array<size_t, kPools> bytes_{};
  std::array<size_t, kPools> limits_{};
  bool charge_metadata_ = false;
};

}  // namespace nvcache
