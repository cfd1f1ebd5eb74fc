// RegionSpace after a restart: reads the footer of each region, then the indexes, the newest region
// first, so that of two blocks of one key the newer one comes back.
//
// Several threads. Each takes a few footers at a time from a shared counter. Then a RecoveryWindow
// gives each thread its work: the caller divides keys into as many parts as there are threads, and
// a part goes through the indexes in order. If the parts follow the cache's shards, threads seldom
// wait for the lock of one, and each shard gets its newest blocks first, as with one thread.
//
// Reads 32 bytes a block and a unit of I/O a region. Memory: 32 bytes a region, and what the window
// holds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "block_cache/region/aligned_io.h"
#include "block_cache/region/erased_list.h"
#include "block_cache/region/format.h"
#include "block_cache/region/geometry.h"
#include "block_cache/region/recovery_window.h"
#include "block_cache/region/region_table.h"
#include "medium/medium.h"

namespace nvcache {

// A block that came back.
struct RecoveredBlock {
  BlockKey key;
  uint64_t place = 0;
  uint32_t size_bytes = 0;
  uint32_t checksum = 0;
};

// What the cache does while its blocks come back. Called without a lock, by several threads.
struct RecoveryPlan {
  uint32_t threads = 1;                              // at most, the caller's among them
  double bytes_per_second = 0;                       // of indexes; 0: as fast as it goes
  const Clock* clock = nullptr;                      // with bytes_per_second
  std::function<uint32_t(const BlockKey&)> part_of;  // below `threads`; not asked with one thread
  std::function<void(uint64_t blocks)> expect;       // at most so many blocks come; called once
  std::function<void(const BlockKey&)> fetch;        // this one comes soon: its memory is wanted
  std::function<bool(const RecoveredBlock&)> take;   // whether the block is in the cache now
  std::function<bool()> stop;
};

// One thread calls run(), once.
class RegionRecovery {
 public:
  struct Regions {
    Medium& medium;
    RegionTable& table;
    std::atomic<uint64_t>& damaged;  // counts regions that could not be read
    Geometry geometry;
    uint64_t nonce = 0;
    uint32_t believed = 0;  // the first of them hold what may come back
    const ErasedList& erased;
  };

  // What is given must outlive it.
  RegionRecovery(const Regions& regions, const RecoveryPlan& recovery)
      : regions_(regions), geometry_(regions.geometry), recovery_(recovery) {}

  // False: it was told to stop. May throw std::bad_alloc before anything has come back: then
  // another one may try again.
  bool run();

 private:
  static constexpr uint32_t kFootersTogether = 32;

  struct Index {
    RegionFooter footer;
    std::unique_ptr<AlignedBytes> memory;  // is used again for the next one in its slot
    std::span<const BlockRecord> records;
    RegionTable::Removals removals;
    bool usable = false;
  };

  void read_footers();
  void read_some_footers(uint32_t first, uint32_t count, AlignedBytes& memory);
  void sort_footers();
  bool read_medium(uint64_t offset, MutableBytes into) noexcept;
  void work();
  void read(const RecoveryWindow::Job& job) noexcept;
  bool read_index(const RegionFooter& footer, Index* index) noexcept;
  void take(const RecoveryWindow::Job& job);
  void take_block(const Index& index, const BlockRecord& record);
  Index& slot(uint32_t index) { return slots_[index % RecoveryWindow::kSlots]; }

  const Regions regions_;
  const Geometry geometry_;
  const RecoveryPlan& recovery_;
  std::atomic<uint32_t> next_region_{0};
  std::vector<RegionFooter> footers_;  // by region, then of those that have one, the newest first
  std::unique_ptr<RecoveryWindow> window_;
  std::array<Index, RecoveryWindow::kSlots> slots_;
};

}  // namespace nvcache
