// The regions of a medium: which are free, which are sealed and in what order, and how much of each
// is in use. 80 bytes of DRAM a region.
//
//   unknown --recovered--> sealed --take_to_empty()--> leaving --last holder--> free
//      |                     ^                                                   |
//      +--no blocks--> free  +------ seal() ------ open <------ take_free() -----+
//
// The region that has been free longest is taken first. One whose write failed is set aside when it
// is not held, and is the last of the free ones once that write, tried again, has succeeded.
//
// A region has holders: each of its blocks, and one for the region itself until it is let go. The
// last holder to go frees it, so a reader that still pins a block keeps the region from being
// overwritten. With Options::discards, what the last holder leaves goes round by take_to_discard(),
// and is free once it was discarded.
//
// Beside that, one word says what a region has on the medium (On): whether a later opening may
// believe the footer that lies there.
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
#include "base/striped_counters.h"
#include "block_cache/io/set_aside.h"
#include "block_cache/region/removal_list.h"
#include "nvcache/function_ref.h"

namespace nvcache {

// Thread-safe. add() and remove() of a block take no lock; remove() takes that of a stripe of
// regions if removals are listed, and that of the table for the last block.
class RegionTable {
 public:
  struct Options {
    uint32_t regions = 0;  // that can ever be
    uint32_t limit = 0;    // that are in use
    bool list_removals = false;
    bool discards = false;
    bool recovers = false;        // all are unknown at first; else free, and nothing is there
    uint32_t believed = ~0u;      // with `recovers`: what lies behind them is outdated
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
  // An open region that could not be written: it is leaving from here on, and set aside afterwards.
  void give_up(uint32_t region, Extent failed, uint64_t now_ns);
  // A region that is not held, to be discarded; then discarded() frees it.
  std::optional<uint32_t> take_to_discard();
  void discarded(uint32_t region);
  // Whether there may be sealed regions without blocks.
  bool some_are_dead() const { return first_dead_.load(std::memory_order_relaxed) != kNone; }
  // The region needs to hold itself no longer: it is free once its blocks are gone.
  void let_go(uint32_t region);

  void add(uint32_t region, uint64_t grains, uint32_t blocks = 1) {
    [[maybe_unused]] const uint64_t before =
        regions_[region].held.fetch_add(grains << 32 | blocks, std::memory_order_relaxed);
    NVCACHE_ASSERT_SLOW(holders(before) > 0);
    used_.add(Used::kGrains, grains);
  }
  void remove(uint32_t region, uint32_t offset_grains, uint32_t grains);

  // While the medium is recovered: from unknown, to free, or to sealed with the blocks that were
  // added in between. A region that is recovered is older than all that are sealed. Regions that
  // come into use later were never unknown: they are free at once.
  uint32_t regions_to_recover() const { return to_recover_; }  // the first of them
  void recover_free(uint32_t region);                          // it has no footer
  void recover_outdated(uint32_t region);  // free, though a footer may lie there
  void recover_begin(uint32_t region);
  void recover_sealed(uint32_t region);
  // Whether the region's footer may be believed.
  bool is_believed(uint32_t region) const { return regions_[region].on == On::kBlocks; }
  // Sequences are higher than this one from here on; before any region is sealed. Those of all that
  // lies there are known then.
  void begin_after(uint64_t sequence) {
    sequence_.store(std::max(sequence_.load(std::memory_order_relaxed), sequence + 1),
                    std::memory_order_relaxed);
    knows_sequences_.store(true);
    knows_sequences_.notify_all();
  }
  void wait_for_sequences() const { knows_sequences_.wait(false); }
  // The sequence that the next region to be sealed gets.
  uint64_t next_sequence() { return sequence_.fetch_add(1, std::memory_order_relaxed); }
  // Above all sequences of this opening, and of those before it. Openings count from a multiple of
  // 2^32, more regions than one of them seals.
  static constexpr int kSequenceBits = 32;
  uint64_t end_of_sequences() const {
    return ((sequence_.load(std::memory_order_relaxed) >> kSequenceBits) + 1) << kSequenceBits;
  }

  // Regions that are set aside (region_table_aside.cc): see PlacesToTry. At most three quarters of
  // those in use: the writes of the others tell whether the medium is switched off.
  std::optional<SetAsidePlace> take_to_try(uint64_t now_ns);
  // `probe_of`: what is written to a free region.
  std::optional<SetAsidePlace> take_to_probe(PlacesToTry::Which which,
                                             FunctionRef<Extent(uint32_t region)> probe_of);
  void tried(const SetAsidePlace& place, bool well, uint64_t now_ns);
  void try_all();
  uint64_t next_try_ns() const { return aside_.next_try_ns(); }
  uint32_t set_aside_regions() const;

  // How many regions are in use. More: the new ones are free. Less: those that are free at the end
  // leave use; the caller empties the others.
  void set_limit(uint32_t regions);
  uint32_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // One past the last region that holds anything.
  uint32_t taken_end() const;

  uint32_t free_regions() const { return free_count_.load(std::memory_order_relaxed); }
  // A load for each thread that ever added or removed a block, however many regions there are.
  uint64_t used_grains() const;
  uint64_t metadata_bytes() const;

  // Blocks on the medium that must not come back: the places of `list`. With `unknown` outdated,
  // too, regions that are not recovered yet as a whole. May throw std::bad_alloc.
  enum class Unknown : uint8_t { kKept, kGivenUp };
  void list_removals(Unknown unknown, RemovalList* list) const;
  // Those that were listed before the opening come back first.
  void note_removals(const RemovalList& list) noexcept;
  void note_removed(uint32_t region, uint32_t offset_grains) noexcept;
  // Offsets in grains, in order. May throw std::bad_alloc.
  std::vector<uint32_t> removed_from(uint32_t region) const;

  // Where an open region is buffered: 1 + the buffer's number, or 0.
  std::atomic<uint32_t>& buffer(uint32_t region) { return regions_[region].buffer; }

 private:
  enum class State : uint8_t { kUnknown, kFree, kOpen, kSealed, kLeaving, kAside, kUnused };
  // The medium, as far as a later opening would believe it.
  enum class On : uint8_t {
    kNothing,   // no footer of this cache
    kOutdated,  // there may be one, but none of its blocks may come back
    kUnlisted,  // so it is until the region leaves: a removal could not be noted
    kBlocks,    // what it names, but for what was removed
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kStripes = 64;
  enum class Used : uint8_t { kGrains, kFieldCount };

  struct Region {
    std::atomic<uint64_t> held{0};  // grains << 32 | holders
    std::atomic<uint32_t> buffer{0};
    std::atomic<State> state{State::kUnknown};  // changes under mutex_
    uint32_t older = kNone;  // of the sealed; of the free, and of those to discard, the next one
    uint32_t newer = kNone;
    uint32_t next_dead = kNone;     // guarded by mutex_
    std::vector<uint32_t> removed;  // guarded by its stripe
    std::atomic<On> on{On::kNothing};
    bool set_aside = false;    // or is as soon as it is not held; guarded by mutex_
    bool listed_dead = false;  // guarded by mutex_
  };

  static uint64_t one_block(uint32_t grains) { return uint64_t{grains} << 32 | 1; }
  static uint32_t holders(uint64_t held) { return static_cast<uint32_t>(held); }
  Mutex& stripe(uint32_t region) const { return stripes_[region % kStripes]; }
  void free_now(uint32_t region);
  // Regions without blocks, and some that left their list since, and may hold blocks again.
  void list_dead(uint32_t region) NVCACHE_REQUIRES(mutex_);
  uint32_t take_dead() NVCACHE_REQUIRES(mutex_);
  enum class Turn : uint8_t { kNext, kLast };
  void push_free(uint32_t region, Turn turn = Turn::kLast) NVCACHE_REQUIRES(mutex_);
  void turn_free_list() NVCACHE_REQUIRES(mutex_);
  uint32_t pop_free() NVCACHE_REQUIRES(mutex_);
  // Null: it is not set aside.
  SetAsidePlace* set_aside(uint32_t region, Extent failed, uint64_t now_ns)
      NVCACHE_REQUIRES(mutex_);
  void use_again(SetAsidePlace place) NVCACHE_REQUIRES(mutex_);
  void forget_aside_beyond(uint32_t limit) NVCACHE_REQUIRES(mutex_);
  void unlink(uint32_t region) NVCACHE_REQUIRES(mutex_);

  const bool list_removals_;
  const bool discards_;
  const uint32_t to_recover_;
  std::vector<Region> regions_;
  std::atomic<uint32_t> limit_;
  std::atomic<uint32_t> free_count_{0};
  std::atomic<uint64_t> sequence_;
  std::atomic<bool> knows_sequences_;
  std::atomic<uint64_t> listed_{0};          // removed blocks
  std::atomic<uint32_t> first_dead_{kNone};  // changes under mutex_
  mutable std::array<Mutex, kStripes> stripes_;
  mutable Mutex mutex_;
  uint32_t first_free_ NVCACHE_GUARDED_BY(mutex_) = kNone;
  uint32_t last_free_ NVCACHE_GUARDED_BY(mutex_) = kNone;
  uint32_t first_left_ NVCACHE_GUARDED_BY(mutex_) = kNone;  // of those to be discarded
  uint32_t oldest_ NVCACHE_GUARDED_BY(mutex_) = kNone;
  uint32_t newest_ NVCACHE_GUARDED_BY(mutex_) = kNone;
  SetAside aside_;  // changes under mutex_
  StripedCounters<Used> used_;
};

}  // namespace nvcache
