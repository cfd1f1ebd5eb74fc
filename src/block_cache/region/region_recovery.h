// RegionSpace after a restart: reads the footer of each region, then the indexes, the newest region
// first, so that of two blocks of one key the newer one comes back.
//
// Several threads. Each takes a few footers at a time from a shared counter. Then a RecoveryWindow
// gives each thread its work: the cache's shards are divided into parts, and a part goes through
// the indexes in order, the first time making room in its shards for what comes. So no two threads
// want the lock of one shard, and each shard gets its newest blocks first, as with one thread. An
// index that is read is sorted by shard, so that a shard gets all its blocks of a few regions at
// once: what changes there then lies in the processor's caches.
//
// Reads 32 bytes a block and a unit of I/O a region. Memory: 32 bytes a region, and 80 a block of
// what the window holds.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "block_cache/index/gone_files.h"
#include "block_cache/index/recovered_block.h"
#include "block_cache/index/shard_set.h"
#include "block_cache/region/aligned_io.h"
#include "block_cache/region/format.h"
#include "block_cache/region/geometry.h"
#include "block_cache/region/records_by_shard.h"
#include "block_cache/region/recovery_window.h"
#include "block_cache/region/region_table.h"
#include "block_cache/region/removal_list.h"
#include "medium/medium.h"

namespace nvcache {

// Where blocks come back to, and how. The members must outlive the recovery.
struct RecoveryPlan {
  ShardSet& shards;
  const GoneFiles& gone_files;    // blocks of them stay away
  const std::atomic<bool>& stop;  // ends it early
  uint32_t threads = 1;           // that are at work at a time; not more than shards
  double bytes_per_second = 0;    // of indexes; 0: as fast as it goes
  const Clock* clock = nullptr;   // with bytes_per_second
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
    const RemovalList& removals;  // of the opening before; the table has its places
  };

  // REQUIRES: the arguments outlive it.
  RegionRecovery(const Regions& regions, const RecoveryPlan& recovery)
      : regions_(regions),
        geometry_(regions.geometry),
        recovery_(recovery),
        threads_(std::max(recovery.threads, 1u)),
        parts_(std::min(kPartsPerThread * threads_, recovery.shards.size())) {}

  // False: it was told to stop. May throw std::bad_alloc before anything has come back: then
  // another one may try again.
  bool run();

 private:
  // Footer reads wait for the medium, not for a processor.
  static constexpr uint32_t kFooterThreads = 8;
  static constexpr uint32_t kFootersTogether = 4;

  // A part waits until its last index is through: the smaller parts are, the shorter they wait.
  static constexpr uint32_t kPartsPerThread = 2;

  static constexpr uint32_t kBlocksTogether = 256;
  using Blocks = std::array<RecoveredBlock, kBlocksTogether>;

  struct Index {
    RegionFooter footer;
    std::unique_ptr<AlignedBytes> memory;  // is used again for the next one in its place
    std::span<const BlockRecord> records;  // in it, once it is read
    RecordsByShard by_shard;
    std::vector<uint32_t> removed;  // offsets, in order
    bool usable = false;
  };

  void read_footers();
  void read_some_footers(uint32_t first, uint32_t count, AlignedBytes& memory);
  void sort_footers();
  bool read_medium(uint64_t offset, MutableBytes into) noexcept;
  void work();
  void carry_out_jobs(Blocks& blocks);
  void prepare(const RecoveryWindow::Job& job) noexcept;
  bool read_index(Index* index) noexcept;
  bool sort_index(Index* index) noexcept;
  void take(const RecoveryWindow::Job& job, Blocks& blocks);
  void make_room(Shard& shard) const;
  void take_shard(const Index& index, uint32_t shard, Blocks& blocks);
  void give(const Index& index, uint32_t shard, std::span<RecoveredBlock> blocks, uint64_t grains);
  bool is_usable(const RegionFooter& footer) const;
  bool may_come_back(const Index& index, const BlockRecord& record);
  // The first shard of a part; of one part too many: one past the last shard.
  uint32_t first_shard(uint32_t part) const {
    return static_cast<uint32_t>(uint64_t{part} * recovery_.shards.size() / parts_);
  }
  Index& index_at(uint32_t index) { return indexes_[index % RecoveryWindow::kMostIndexes]; }

  const Regions regions_;
  const Geometry geometry_;
  const RecoveryPlan& recovery_;
  const uint32_t threads_;
  const uint32_t parts_;
  std::atomic<uint32_t> next_region_{0};
  uint64_t blocks_expected_ = 0;
  std::vector<RegionFooter> footers_;  // by region, then of those that have one, the newest first
  std::unique_ptr<RecoveryWindow> window_;
  std::array<Index, RecoveryWindow::kMostIndexes> indexes_;
  std::vector<Blocks> blocks_;  // one a thread: what it gives to a shard next
  std::atomic<uint32_t> next_blocks_{0};
};

}  // namespace nvcache
