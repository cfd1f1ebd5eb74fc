// Empties regions, so that new blocks find room: the oldest first, or one that has no block left.
// A block that its eviction policy finds worth a second write is appended again, up to a share of
// the region (`rewrite`); all others are evicted.
//
// One thread, woken when fewer than two regions are free. Emptying a region reads its index, costs
// a lookup and the lock of a shard for each block, and reads and writes the blocks that stay. With
// discard=on the thread also gives the regions that are not held back to the medium, and empties
// those without blocks before room is wanted.
#pragma once

#include <cstdint>
#include <span>

#include "base/background_thread.h"
#include "block_cache/api/counters.h"
#include "block_cache/index/volume.h"
#include "block_cache/region/region_space.h"

namespace nvcache {

// Thread-safe. No lock is held while blocks are read or written.
class RegionEviction {
 public:
  // `parts` and the space must outlive it.
  RegionEviction(const Volume::Parts& parts, RegionSpace& space);

  [[nodiscard]] bool start() { return thread_.start(); }
  void wake() { thread_.wake(); }
  // Ends the thread for good. Regions may still be lost.
  void stop() { thread_.stop(); }

  // Evicts what lies in these regions, and lets go of those that are sealed. Nothing may be
  // appended to them since.
  void drop_between(uint32_t first, uint32_t end);
  // Removes the blocks of a region that could not be written.
  void lose(uint32_t region, std::span<const BlockRecord> records);

 private:
  bool make_room();
  void empty(uint32_t region);
  void drop(uint32_t region);
  // The bytes that were written again.
  uint32_t leave(uint32_t region, const BlockRecord& record, bool may_stay);
  // Whether the block is in another region now.
  bool rewrite(Shard& shard, const BlockKey& key, const DetachedBlock& block);
  static bool move(Entry& entry, uint64_t place);
  void evict_between(uint32_t first, uint32_t end);

  bool may_evict() const;

  RegionSpace& space_;
  ShardSet& shards_;
  AdmissionControl& admission_;
  const MediumHealth& health_;
  Counters& counters_;
  const uint64_t most_rewritten_bytes_;  // of a region
  BackgroundThread thread_;
};

}  // namespace nvcache
