// The regions of a medium: which are free, which are sealed and in what order, and how much of each
// is in use. 80 bytes of DRAM a region.
//
//   unknown --recovered--> sealed --take_to_empty()--> leaving --last holder--> free
//      |                     ^                                                   |
//      +--no blocks--> free  +------ seal() ------ open <------ take_free() -----+
//
// A region has holders: each of its blocks, and one for the region itself until it is let go. The
// last holder to go frees it, so a reader that still pins a block keeps the region from being
// overwritten. With Options::discards, what the last holder leaves goes round by take_to_discard(),
// and is free once it was discarded.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"

namespace nvcache {

// Thread-safe. add() and remove() of a block take no lock; remove() takes that of a stripe of
// regions if removals are listed, and that of the table for the last block.
class RegionTable {
 public:
  static constexpr uint32_t kWholeRegion = ~uint32_t{0};

  struct Options {
    uint32_t regions = 0;  // that can ever be
    uint32_t limit = 0;    // that are in use
    bool list_removals = false;
    bool discards = false;
    bool recovers = false;        // all are unknown at first; else free
    uint64_t first_sequence = 1;  // higher than any that is there
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
  // A region that is not held, to be discarded; then discarded() frees it.
  std::optional<uint32_t> take_to_discard();
  void discarded(uint32_t region);
  // Whether there may be sealed regions without blocks.
  bool some_are_dead() const { return some_are_dead_.load(std::memory_order_relaxed); }
  // The region needs to hold itself no longer: it is free once its blocks are gone.
  void let_go(uint32_t region);

  void add(uint32_t region, uint64_t grains, uint32_t blocks = 1) {
    [[maybe_unused]] const uint64_t before =
        regions_[region].held.fetch_add(grains << 32 | blocks, std::memory_order_relaxed);
    NVCACHE_ASSERT_SLOW(holders(before) > 0);
  }
  void remove(uint32_t region, uint32_t offset_grains, uint32_t grains);

  // While the medium is recovered: from unknown, to free, or to sealed with the blocks that were
  // added in between. A region that is recovered is older than all that are sealed. Regions that
  // come into use later were never unknown: they are free at once.
  uint32_t regions_to_recover() const { return to_recover_; }  // the first of them
  void recover_free(uint32_t region);                          // it has no footer
  void recover_unread(uint32_t region);  // free, though a footer may lie there
  void recover_begin(uint32_t region);
  void recover_sealed(uint32_t region);
  // Sequences are higher than this one from here on; before any region is sealed.
  void begin_after(uint64_t sequence) {
    sequence_.store(std::max(sequence_.load(std::memory_order_relaxed), sequence + 1),
                    std::memory_order_relaxed);
  }
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

  // Blocks that were removed: offsets in grains, or kWholeRegion where a region was emptied and is
  // not written yet, or where there was no memory to list them. Those that were listed before the
  // opening come back first.
  struct Removed {
    uint32_t region = 0;
    uint32_t offset_grains = 0;
  };
  // Of a list as it lies on the medium.
  static uint64_t checksum(const std::vector<Removed>& removed);
  // `unknown`: regions that are not recovered yet as a whole, too. May throw std::bad_alloc.
  std::vector<Removed> removed(bool unknown = false) const;
  // Makes a list that is in the order of regions `most` long at most, where it can: names whole
  // regions instead of their blocks, those with the most removed blocks first.
  static void shorten(std::vector<Removed>* removed, size_t most);  // may throw std::bad_alloc
  void note_removed(uint32_t region, uint32_t offset_grains) noexcept;
  struct Removals {
    bool all = false;
    std::vector<uint32_t> offsets;  // in order
  };
  Removals removed_from(uint32_t region) const;  // may throw std::bad_alloc

  // Where an open region is buffered: 1 + the buffer's number, or 0.
  std::atomic<uint32_t>& buffer(uint32_t region) { return regions_[region].buffer; }

 private:
  enum class State : uint8_t { kUnknown, kFree, kOpen, kSealed, kLeaving, kUnused };
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kStripes = 64;

  struct Region {
    std::atomic<uint64_t> held{0};  // grains << 32 | holders
    std::atomic<uint32_t> buffer{0};
    std::atomic<State> state{State::kUnknown};  // changes under mutex_
    uint32_t older = kNone;  // of the sealed; of the free, and of those to discard, the next one
    uint32_t newer = kNone;
    std::vector<uint32_t> removed;  // guarded by its stripe
    bool all_removed = false;
    std::atomic<bool> written{false};  // its footer may lie on the medium, also when it is free
  };

  static uint64_t one_block(uint32_t grains) { return uint64_t{grains} << 32 | 1; }
  static uint32_t holders(uint64_t held) { return static_cast<uint32_t>(held); }
  Mutex& stripe(uint32_t region) const { return stripes_[region % kStripes]; }
  void free_now(uint32_t region);
  void push_free(uint32_t region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void unlink(uint32_t region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const bool list_removals_;
  const bool discards_;
  const uint32_t to_recover_;
  std::vector<Region> regions_;
  std::atomic<uint32_t> limit_;
  std::atomic<uint32_t> free_count_{0};
  std::atomic<uint64_t> sequence_;
  std::atomic<uint64_t> listed_{0};         // removed blocks
  std::atomic<bool> some_are_dead_{false};  // sealed regions without blocks
  mutable std::array<Mutex, kStripes> stripes_;
  Mutex mutex_;
  uint32_t first_free_ ABSL_GUARDED_BY(mutex_) = kNone;
  uint32_t first_left_ ABSL_GUARDED_BY(mutex_) = kNone;  // of those to be discarded
  uint32_t oldest_ ABSL_GUARDED_BY(mutex_) = kNone;
  uint32_t newest_ ABSL_GUARDED_BY(mutex_) = kNone;
};

}  // namespace nvcache
