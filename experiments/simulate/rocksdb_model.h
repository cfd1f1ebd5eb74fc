// RocksDB, as a simulation sees it: memtables, a block cache (block_tiers.h), files in levels
// (lsm_tree.h), and threads that flush, compact and demote.
//
//   get, seek    the processor's time; of a get, the memtables; then the block cache, and on a miss
//                a read of 16 KiB from the disk, after which the block enters the cache. Indexes
//                and filters are always cached
//   put          the memtable, and the log: written to the disk 64 KiB at a time, without a wait.
//                While two memtables are full, or level 0 is, puts wait
//   background   as many threads as cores (IncreaseParallelism()) flush and compact, 64 KiB at a
//                time: read, merged, written. One thread demotes what leaves the DRAM; while 64
//                blocks wait for it, a client that brings another one writes one itself
//                (DemotionQueue::kMaxBlocks)
//
// See docs/results/simulate.md for the times that the processor takes. A block that another lookup
// takes back from the queue of demotions is read from the NVRAM here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/histogram.h"
#include "experiments/simulate/block_tiers.h"
#include "experiments/simulate/engine_model.h"
#include "experiments/simulate/lsm_tree.h"
#include "experiments/simulate/rocksdb_operations.h"

namespace nvcache::simulate {

class RocksdbModel final : public EngineModel {
 public:
  explicit RocksdbModel(const World& world);

  std::vector<Task> tasks() override;
  void count(Result* result) const override;

 private:
  struct Database {
    LsmTree tree;
    uint64_t filled_bytes = 0;  // of the memtable that is written to
    bool has_full = false;      // another one, that waits to be flushed or is being
    bool is_flushing = false;
    std::unordered_set<uint64_t> pairs;  // in the memtable
    std::unordered_set<uint64_t> full_pairs;
  };
  struct Counts {
    uint64_t lookups = 0;
    uint64_t hits = 0;
    Histogram storage_ns;
  };

  Task client(uint32_t number);
  Task background();
  Task demoter();

  Task put(RocksdbOperation op);
  Task read_block(uint32_t database, uint64_t number, double at);
  Task flush(Database& database);
  Task merge(Database& database);
  Task transfer(uint64_t read_bytes, uint64_t written_bytes);

  bool may_put(const Database& database) const;
  void enter_memtable(Database& database, uint64_t pair);
  Database* to_flush();
  Database* to_merge();
  bool is_warm() const;
  Scheduler::Wait busy(uint64_t ns) { return time_.busy_until(time_.now_ns() + ns); }

  const World world_;
  Scheduler& time_;
  const std::unique_ptr<RocksdbOperations> operations_;
  const std::unique_ptr<BlockTiers> tiers_;
  std::vector<Database> databases_;
  Scheduler::Parked idle_background_;
  Scheduler::Parked idle_demoter_;
  Scheduler::Parked stalled_;
  uint64_t log_bytes_ = 0;  // not written yet
  size_t next_merge_ = 0;   // database: they take turns
  uint64_t blocks_written_ = 0;
  Counts warm_;
};

StatusOr<std::unique_ptr<EngineModel>> make_rocksdb(const World& world);

}  // namespace nvcache::simulate
