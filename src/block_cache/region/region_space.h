// The space of a cache that appends: blocks go to open regions, regions are emptied whole, and what
// a region holds is written beside it, so that the cache can be warm after a restart.
//
// The blocks of an earlier opening are believed if that was closed in order, for then the
// blocks that were removed are listed. After a crash it is believed only if its keys were
// immutable: a removed block that comes back is still the right one. Else the cache starts empty,
// with a nonce of its own.
//
// docs/design/regions.md has the bytes and the reasons.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "block_cache/index/erased_keys.h"
#include "block_cache/io/set_aside.h"
#include "block_cache/io/space.h"
#include "block_cache/region/format.h"
#include "block_cache/region/geometry.h"
#include "block_cache/region/region_head.h"
#include "block_cache/region/region_recovery.h"
#include "block_cache/region/region_table.h"
#include "block_cache/region/region_writer.h"
#include "block_cache/region/removal_list.h"
#include "medium/medium.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Thread-safe, except open(), recover() and close(), which one thread calls.
class RegionSpace final : public Space, public PlacesToTry {
 public:
  static constexpr uint32_t kLeastRegions = 8;

  struct Options {
    uint64_t size_bytes = 0;
    uint64_t max_size_bytes = 0;
    uint64_t region_bytes = 0;  // 0: chosen by size
    bool warm = false;          // come back with the blocks of the opening before
    bool immutable_keys = false;
    uint64_t owner = 0;         // whose blocks they are, hashed; 0: no owner is named
    bool format = false;        // start anew, whatever the medium holds
    bool discard = false;       // give emptied regions back to the medium
    uint64_t buffer_bytes = 0;  // of DRAM for regions that are open; at least 4 regions are
    uint64_t nonce = 0;         // random
    Clock* clock = &system_clock();
  };

  // Reads what the medium holds, and changes nothing. FAILED_PRECONDITION, DATA_LOSS: it holds a
  // superblock of another version, another owner's blocks, or a damaged superblock.
  // INVALID_ARGUMENT: too small for its regions. `medium` must outlive the space.
  [[nodiscard]] static StatusOr<std::unique_ptr<RegionSpace>> open(Medium& medium,
                                                                   const Options& options,
                                                                   RegionWriter::Events events);
  // Marks the medium as open: the last step of an opening, for a failure after it would lose what
  // mutable keys left there. Before the first append.
  [[nodiscard]] Status begin();

  // Whether there may be blocks to recover.
  bool holds_blocks() const { return believed_; }
  // Reads the index of each region, the newest first, and offers each block. Puts find room as
  // regions turn out to be free. May throw std::bad_alloc before a block was offered.
  void recover(const RecoveryPlan& recovery);
  bool recovering() const { return recovering_.load(std::memory_order_relaxed); }
  uint64_t damaged_regions() const { return damaged_.load(std::memory_order_relaxed); }

  // Writes what is open, the list of removals, and that all is in order. Does nothing without
  // begin().
  [[nodiscard]] Status close(const ErasedSinceOpening& unread);

  // Makes it durable that these keys, and all of these files, were erased, if keys are immutable:
  // else nothing comes back that was erased. Any thread; one at a time writes. While footers are
  // read after a restart, waits for them. RESOURCE_EXHAUSTED: no memory. Else the error of the
  // medium.
  [[nodiscard]] Status remember_erased(std::span<const BlockKey> keys,
                                       std::span<const uint64_t> files);

  // Space.
  bool can_hold(uint32_t size_bytes) const override {
    return table_.limit() > 0 && writer_.can_hold(size_bytes);
  }
  bool has_room(uint32_t) const override { return table_.free_regions() > kSpareRegions; }
  void release(uint64_t place, uint32_t size_bytes) override {
    table_.remove(geometry_.region_of(place), geometry_.offset_in_region(place),
                  to_grains(size_bytes));
  }
  uint64_t used_bytes() const override { return table_.used_grains() * grain_bytes(); }
  uint64_t limit_bytes() const override { return table_.limit() * geometry_.region_bytes; }
  uint64_t metadata_bytes() const override { return table_.metadata_bytes(); }

  // Appending: see RegionWriter. cancel(): the block does not come after all.
  using Spot = RegionWriter::Spot;
  Reason append(uint32_t size_bytes, Spot* spot,
                RegionWriter::For use = RegionWriter::For::kNewBlock) {
    return writer_.append(size_bytes, spot, use);
  }
  void finish(const Spot& spot) { writer_.finish(spot); }
  void cancel(const Spot& spot, uint32_t size_bytes);

  // Emptying: takes a region, removes what is in it, lets it go.
  std::optional<uint32_t> take_to_empty(bool only_without_blocks) {
    return table_.take_to_empty(only_without_blocks);
  }
  bool take_sealed(uint32_t region) { return table_.take_sealed(region); }
  void let_go(uint32_t region) { table_.let_go(region); }
  // Gives a region that is not held back to the medium, and frees it. False: there is none. The
  // first failure is counted and ends the discarding: regions are only freed from then on. One
  // thread at a time.
  bool discard_one();
  bool discards() const { return discards_.load(std::memory_order_relaxed); }
  uint64_t discarded_bytes() const { return discarded_bytes_.load(std::memory_order_relaxed); }
  uint64_t discard_errors() const { return discard_errors_.load(std::memory_order_relaxed); }
  // Whether emptying a region without blocks would give space back.
  bool wants_to_discard() const { return discards() && table_.some_are_dead(); }
  bool wants_room() const { return table_.free_regions() < kSpareRegions; }
  // The index of a sealed region, the last block first.
  [[nodiscard]] StatusOr<std::vector<BlockRecord>> read_records(uint32_t region);

  // Regions whose write failed. A probe writes the last piece of a region that is free.
  std::optional<SetAsidePlace> take_to_try(uint64_t now_ns) override {
    return table_.take_to_try(now_ns);
  }
  std::optional<SetAsidePlace> take_to_probe(Which which) override;
  bool puts_are_probes() const override { return false; }
  void tried(const SetAsidePlace& place, bool well, uint64_t now_ns) override {
    table_.tried(place, well, now_ns);
  }
  void try_all() override { table_.try_all(); }
  uint64_t next_try_ns() const override { return table_.next_try_ns(); }
  uint64_t set_aside_bytes() const override {
    return table_.set_aside_regions() * geometry_.region_bytes;
  }

  // Changes how many regions are in use: see RegionTable.
  void set_limit(uint32_t regions) { table_.set_limit(regions); }
  // One past the last region that holds anything.
  uint32_t taken_end() const { return table_.taken_end(); }

  RegionWriter& writer() { return writer_; }
  const RegionWriter& writer() const { return writer_; }
  const Geometry& geometry() const { return geometry_; }
  uint32_t regions() const { return table_.limit(); }
  uint32_t free_regions() const { return table_.free_regions(); }

 private:
  static constexpr uint32_t kSpareRegions = 2;

  RegionSpace(Medium& medium, const Options& options, const Superblock& superblock, bool believed,
              RegionHead::Sync sync, RegionWriter::Events events);
  static Geometry choose_geometry(const Options& options, uint32_t unit_bytes);
  static bool believes(const Options& options, const Superblock& before);
  static uint32_t believed_regions(const Options& options, const Superblock& before);
  void list_removals(const ErasedSinceOpening& unread, RemovalList* list) NVCACHE_REQUIRES(mutex_);
  [[nodiscard]] StatusOr<std::vector<BlockRecord>> read_records(const RegionFooter& footer);
  [[nodiscard]] StatusOr<std::vector<std::byte>> read(uint64_t offset, uint64_t bytes);

  Medium& medium_;
  const Geometry geometry_;
  const uint64_t nonce_;
  const bool immutable_keys_;
  const bool lists_removals_;
  const bool believed_;
  const RegionHead::Sync sync_;
  const uint32_t known_regions_;     // at most
  const uint32_t believed_regions_;  // the first of them hold what may come back
  const uint64_t first_sequence_;    // of this opening
  std::atomic<bool> recovering_;
  std::atomic<uint64_t> damaged_{0};
  std::atomic<bool> discards_;
  std::atomic<uint64_t> discarded_bytes_{0};
  std::atomic<uint64_t> discard_errors_{0};
  RegionTable table_;
  RegionWriter writer_;
  RemovalList found_;  // before the opening; for recover()
  Mutex mutex_;        // also held while the head is written
  RegionHead head_ NVCACHE_GUARDED_BY(mutex_);
  bool begun_ NVCACHE_GUARDED_BY(mutex_) = false;
};

}  // namespace nvcache
