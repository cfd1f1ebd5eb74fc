// The regions of a medium: which are free, which are sealed and in what order, and how much of each
// is in use. 64 bytes of DRAM a region.
//
//   free --take_free()--> open --seal()--> sealed --take_to_empty()--> leaving --last holder-->
//   free
//
// A region has holders: each of its blocks, and one for the region itself until it is let go. The
// last holder to go frees it, so a reader that still pins a block keeps the region from being
// overwritten. With Options::discards, what the last holder leaves goes round by take_to_discard(),
// and is free once it was discarded.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"

namespace nvcache {

// Thread-safe. add() and remove() of a block take no lock, but that of the table for a region's
// last block.
class RegionTable {
 public:
  struct Options {
    uint32_t regions = 0;  // that can ever be
    uint32_t limit = 0;    // that are in use
    bool discards = false;
  };
  explicit RegionTable(const Options& options);

  // A free region, which is open from here on; or none.
  std::optional<uint32_t> take_free();
  void seal(uint32_t region);
  // The sealed region to empty next: one without blocks if there is one; else the oldest, or none
  // if only those without blocks may be emptied.
  std::optional<uint32_t> take_to_empty(bool only_without_blocks);
  // A certain region, if it is sealed.
  bool take_sealed(uint32_t region);
  // An open region that could not be written: it is leaving from here on.
  void give_up(uint32_t region);
  // A region that nobody holds, to be discarded; then discarded() frees it.
  std::optional<uint32_t> take_to_discard();
  void discarded(uint32_t region);
  // Whether there may be sealed regions without blocks.
  bool some_are_dead() const { return some_are_dead_.load(std::memory_order_relaxed); }
  // The region needs to hold itself no longer: it is free once its blocks are gone.
  void let_go(uint32_t region);

  void add(uint32_t region, uint32_t grains) {
    regions_[region].held.fetch_add(one_block(grains), std::memory_order_relaxed);
  }
  void remove(uint32_t region, uint32_t grains);

  // The sequence that the next region to be sealed gets.
  uint64_t next_sequence() { return sequence_.fetch_add(1, std::memory_order_relaxed); }

  // How many regions are in use. More: the new ones are free. Less: those that are free at the end
  // leave use; the caller empties the others.
  void set_limit(uint32_t regions);
  uint32_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // One past the last region that holds anything.
  uint32_t taken_end() const;

  uint32_t free_regions() const { return free_count_.load(std::memory_order_relaxed); }
  uint64_t used_grains() const;
  uint64_t metadata_bytes() const;

  // Where an open region is buffered: 1 + the buffer's number, or 0.
  std::atomic<uint32_t>& buffer(uint32_t region) { return regions_[region].buffer; }

 private:
  enum class State : uint8_t { kFree, kOpen, kSealed, kLeaving, kUnused };
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Region {
    std::atomic<uint64_t> held{0};  // grains << 32 | holders
    std::atomic<uint32_t> buffer{0};
    std::atomic<State> state{State::kUnused};  // changes under mutex_
    uint32_t older = kNone;  // of the sealed; of the free, and of those to discard, the next one
    uint32_t newer = kNone;
  };

  static uint64_t one_block(uint32_t grains) { return uint64_t{grains} << 32 | 1; }
  static uint32_t holders(uint64_t held) { return static_cast<uint32_t>(held); }
  void free_now(uint32_t region);
  void push_free(uint32_t region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void unlink(uint32_t region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const bool discards_;
  std::vector<Region> regions_;
  std::atomic<uint32_t> limit_;
  std::atomic<uint32_t> free_count_{0};
  std::atomic<uint64_t> sequence_{1};
  std::atomic<bool> some_are_dead_{false};  // sealed regions without blocks
  Mutex mutex_;
  uint32_t first_free_ ABSL_GUARDED_BY(mutex_) = kNone;
  uint32_t first_left_ ABSL_GUARDED_BY(mutex_) = kNone;  // of those to be discarded
  uint32_t oldest_ ABSL_GUARDED_BY(mutex_) = kNone;
  uint32_t newest_ ABSL_GUARDED_BY(mutex_) = kNone;
};

}  // namespace nvcache
