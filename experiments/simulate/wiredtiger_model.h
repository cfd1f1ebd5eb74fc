// WiredTiger, as a simulation sees it: a B-tree whose leaf pages are cached, written as blocks that
// are never overwritten, and written out by checkpoints. Interior pages are always cached.
//
//   a page is cached       of the cache's size 80% is filled (eviction_target), with pages 8%
//   larger
//                          than their blocks (cache_overhead)
//   a page leaves          the least recently used one; any one while the database changes. When
//                          dirty pages were over their target, WiredTiger ordered clean ones by
//                          their size in memory, whose bytes outweigh their read generations
//                          (evict_lru.c). Those stay at the end of its queues, so that what its
//                          walks find later leaves, whenever it was used
//   a page is missed       tier in the engine, OS page cache, tier below it, disk: in this order.
//                          A block that came from the OS or the disk is offered to the tier
//   a page is changed      it is dirty. While more than 5% of the cache is (eviction_dirty_target),
//                          8 evictors (threads_max) write the coldest out, and it stays as a clean
//                          page; past 20% (eviction_dirty_trigger) clients must do it, too
//   a page is written      to a new block; the old one is freed, and the tier told. Its place on
//                          the disk is used again after the next checkpoint. Writes go to the OS
//                          page cache, and to the disk in the background; who writes waits while
//                          more than 20% of the memory (vm.dirty_ratio) waits for the disk
//   a table is scanned     row after row, by a client of its own: ScannedTables of tables.h
//   each minute            a checkpoint writes all dirty pages, one after the other
//
// See docs/results/simulate.md for the times that the processor takes.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/prng.h"
#include "experiments/simulate/engine_model.h"
#include "experiments/simulate/keys.h"
#include "experiments/simulate/lru_list.h"
#include "experiments/simulate/main_memory.h"
#include "experiments/simulate/placed_lru.h"
#include "experiments/simulate/tables.h"
#include "experiments/simulate/tier.h"

namespace nvcache::simulate {

// Sizes of WiredTiger's caches in a simulation, in scaled objects.
Places wiredtiger_places(const Options& options);

class WiredTigerModel final : public EngineModel {
 public:
  explicit WiredTigerModel(const World& world);

  std::vector<Task> tasks() override;
  void count(Result* result) const override;

 private:
  static constexpr uint32_t kNoBlock = ~uint32_t{0};

  Task client(uint32_t number);
  Task throttled_client(uint32_t number, OpType type);
  Task scanner();
  Task evictor();
  Task checkpointer();

  // Steps of these. A page may come, go or be written while one waits: each looks again.
  Task carry_out(PageOperation op);
  Task visit(PageOperation op, uint32_t page, bool first);
  Task fetch(uint32_t page);
  Task read_below_os(uint32_t page, uint32_t block);
  Task enter_page(uint32_t page);
  uint32_t next_victim();
  Task change(uint32_t page);
  Task write_out(uint32_t page);

  bool is_current(uint32_t page, uint32_t block) const { return block_of_[page] == block; }
  void enter_os(uint32_t page);
  uint32_t allocate();
  void free_block(uint32_t block);
  void end_checkpoint();
  Scheduler::Wait busy(uint64_t ns) { return time_.busy_until(time_.now_ns() + ns); }
  Scheduler::Wait load(Part part) {
    return time_.busy_until(world_.memory.load(time_.now_ns(), part));
  }
  Scheduler::Wait store(Part part) {
    return time_.busy_until(world_.memory.store(time_.now_ns(), part));
  }

  const World world_;
  const WorkloadRow& workload_;
  Scheduler& time_;
  const Places places_;
  Keys keys_;
  PlacedLru cache_;  // the engine's
  PlacedLru os_;
  LruList dirty_;
  Scheduler::Parked idle_evictors_;
  Prng victims_;
  bool any_leaves_ = false;             // dirty pages were over their target, and are not few since
  std::vector<uint32_t> block_of_;      // by page
  std::deque<uint32_t> free_blocks_;    // to be used again, in this order
  std::vector<uint32_t> freed_blocks_;  // since the last checkpoint began or before
  std::vector<bool> is_new_;            // by block: written since the last checkpoint
  std::vector<uint32_t> new_blocks_;
  const uint32_t dirty_target_;
  const uint32_t dirty_trigger_;
  const uint64_t most_backlog_ns_;
  const uint64_t checkpoint_interval_ns_;
  const uint64_t scan_interval_ns_;
  const uint64_t most_late_ns_;

  uint64_t page_lookups_ = 0;
  uint64_t page_hits_ = 0;
  uint64_t os_lookups_ = 0;
  uint64_t os_hits_ = 0;
  uint64_t blocks_written_ = 0;
  uint64_t checkpoints_ = 0;
  uint64_t table_scans_ = 0;
};

StatusOr<std::unique_ptr<EngineModel>> make_wiredtiger(const World& world);

}  // namespace nvcache::simulate
