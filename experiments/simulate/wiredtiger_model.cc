#include "experiments/simulate/wiredtiger_model.h"

#include <algorithm>

#include "experiments/simulate/recorder.h"
#include "experiments/simulate/storage.h"
#include "experiments/simulate/tables.h"

namespace nvcache::simulate {
namespace {

// WiredTiger's defaults.
constexpr double kFilledShare = 0.80;               // eviction_target
constexpr double kDirtyTarget = 0.05;               // eviction_dirty_target
constexpr double kDirtyTrigger = 0.20;              // eviction_dirty_trigger
constexpr size_t kEvictors = 8;                     // eviction=(threads_max)
constexpr uint64_t kCheckpointNs = 60'000'000'000;  // MongoDB's interval
constexpr uint64_t kMostLateNs = 1'000'000'000;     // wtperf: what a throttled client makes up for
constexpr double kOsDirtyShare = 0.20;              // Linux's vm.dirty_ratio

// Times of a core. Our choice, of the order of what docs/results/writes_hurt.md measured: 15 us in
// all for a uniform read, 3.5 us of it WiredTiger's checksum of the block.
constexpr uint64_t kOperationNs = 5'000;   // a search, a cursor, a copy, the client's own part
constexpr uint64_t kPageBuildNs = 8'000;   // checksum included
constexpr uint64_t kSystemCallNs = 2'000;  // without the copy
constexpr uint64_t kScanRowNs = 500;
constexpr uint64_t kWriteOutNs = 20'000;  // reconciliation of a page

uint32_t objects(double bytes, uint64_t object_bytes, uint32_t scale) {
  return static_cast<uint32_t>(bytes / static_cast<double>(object_bytes) / scale);
}

uint64_t engine_memory_bytes(const Options& options) {
  switch (find_row(kConfigurations, options.configuration)->memory) {
    case MemoryKind::kDram:
      break;
    case MemoryKind::kAllDram:
      return options.dram_bytes + options.nvram_bytes;
    case MemoryKind::kMemoryMode:
      return options.nvram_bytes;
  }
  return options.dram_bytes;
}

uint32_t dataset_pages(const Options& options) {
  return objects(static_cast<double>(options.dataset_bytes), kBlockBytes, options.scale);
}

uint32_t cache_pages(const Options& options, double share) {
  return objects(static_cast<double>(options.page_cache_bytes) * share, kPageBytes, options.scale);
}

uint64_t backlog_of(const Options& options) {
  const double bytes =
      kOsDirtyShare * static_cast<double>(engine_memory_bytes(options)) / options.scale;
  return static_cast<uint64_t>(bytes / find_row(kStorages, options.storage)->write_gb_s);
}

}  // namespace

Places wiredtiger_places(const Options& options) {
  const uint64_t os_bytes = engine_memory_bytes(options) - options.page_cache_bytes;
  return {.pages = cache_pages(options, kFilledShare),
          .blocks = objects(static_cast<double>(os_bytes), kBlockBytes, options.scale)};
}

WiredTigerModel::WiredTigerModel(const World& world)
    : world_(world),
      workload_(*find_row(kWorkloads, world.options.workload)),
      time_(world.time),
      places_(wiredtiger_places(world.options)),
      keys_(workload_, dataset_pages(world.options), world.options.scale),
      cache_(keys_.most_pages(), places_.pages),
      os_(keys_.most_pages(), places_.blocks),
      dirty_(keys_.most_pages()),
      idle_evictors_(time_),
      victims_(thread_seed(world.options.seed, world.options.clients + 1)),
      block_of_(keys_.most_pages(), kNoBlock),
      dirty_target_(cache_pages(world.options, kDirtyTarget)),
      dirty_trigger_(cache_pages(world.options, kDirtyTrigger)),
      most_backlog_ns_(backlog_of(world.options)),
      checkpoint_interval_ns_(kCheckpointNs / world.options.scale),
      scan_interval_ns_(
          static_cast<uint64_t>(workload_.scanned.interval_seconds * 1e9 / world.options.scale)),
      most_late_ns_(kMostLateNs / world.options.scale) {
  for (uint32_t page = 0; page < keys_.pages(); ++page) block_of_[page] = page;
  is_new_.resize(keys_.pages(), false);
}

std::vector<Task> WiredTigerModel::tasks() {
  std::vector<Task> tasks;
  const ThrottledClients& throttled = workload_.throttled;
  for (uint32_t i = 0; i < world_.options.clients; ++i) {
    if (i < throttled.sum()) {
      const OpType type = i < throttled.inserting ? OpType::kInsert : OpType::kUpdate;
      tasks.push_back(throttled_client(i, type));
    } else {
      tasks.push_back(client(i));
    }
  }
  if (workload_.scanned.share > 0) tasks.push_back(scanner());
  for (uint32_t i = 0; i < kEvictors; ++i) tasks.push_back(evictor());
  tasks.push_back(checkpointer());
  return tasks;
}

Task WiredTigerModel::client(uint32_t number) {
  Prng prng(thread_seed(world_.options.seed, number));
  for (;;) co_await carry_out(keys_.next(prng));
}

Task WiredTigerModel::throttled_client(uint32_t number, OpType type) {
  Prng prng(thread_seed(world_.options.seed, number));
  const uint64_t interval_ns = 1'000'000'000 / workload_.throttled.operations_per_second;
  uint64_t due_ns = time_.now_ns() + prng.below(interval_ns);  // not all of them at once
  for (;;) {
    co_await time_.idle_until(due_ns);
    co_await carry_out(keys_.next(type, prng));
    const uint64_t now_ns = time_.now_ns();
    due_ns = std::max(due_ns + interval_ns, now_ns - std::min(now_ns, most_late_ns_));
  }
}

Task WiredTigerModel::carry_out(PageOperation op) {
  const uint64_t begin_ns = time_.now_ns();
  if (op.splits) {
    co_await busy(kPageBuildNs);
    co_await enter_page(op.new_page);
    dirty_.touch(op.new_page);
  }
  uint32_t page = op.page;
  for (uint32_t i = 0; i < op.pages; ++i) {
    co_await visit(op, page, i == 0);
    page = page + 1 < keys_.pages() ? page + 1 : 0;
  }
  world_.recorder.finish(op.type, begin_ns, time_.now_ns());
  co_await time_.yield();
}

// Its searches are no operations: what counts is how often it gets through its tables.
Task WiredTigerModel::scanner() {
  for (;;) {
    co_await time_.idle_until(time_.now_ns() + scan_interval_ns_);
    for (uint64_t i = 0; i < keys_.scanned_rows(); ++i) {
      const PageOperation op = keys_.scanned(i);
      co_await visit(op, op.page, true);
      co_await time_.yield();
    }
    ++table_scans_;
  }
}

Task WiredTigerModel::evictor() {
  for (;;) {
    if (dirty_.size() <= dirty_target_) {
      co_await idle_evictors_.park();
    } else {
      co_await write_out(dirty_.coldest());
      co_await time_.yield();
    }
  }
}

Task WiredTigerModel::checkpointer() {
  for (;;) {
    const uint64_t next_ns = time_.now_ns() + checkpoint_interval_ns_;
    uint32_t left = dirty_.size();
    while (left-- > 0 && dirty_.size() > 0) {
      co_await write_out(dirty_.coldest());
      co_await time_.yield();
    }
    if (time_.now_ns() > 0) end_checkpoint();
    co_await time_.idle_until(next_ns);
  }
}

Task WiredTigerModel::visit(PageOperation op, uint32_t page, bool first) {
  const bool changes = op.type == OpType::kUpdate || op.type == OpType::kInsert;
  ++page_lookups_;
  if (cache_.contains(page)) {
    ++page_hits_;
    cache_.touch(page);
  } else {
    co_await fetch(page);
    if (!cache_.contains(page)) co_await enter_page(page);
  }
  const uint32_t place = cache_.place(page);
  if (dirty_.contains(page)) dirty_.touch(page);
  if (changes) co_await change(page);
  uint64_t core_ns = first ? kOperationNs : 0;
  if (op.type == OpType::kScan) core_ns += kScanRowNs * op.rows / op.pages;
  co_await busy(core_ns);
  co_await load({Kind::kPage, place, 0, 1});
  if (op.type == OpType::kScan) {
    co_await load({Kind::kPage, place, 1, op.row_parts});
  } else if (changes) {
    co_await store({Kind::kPage, place, 1 + op.part, 1});
  } else {
    co_await load({Kind::kPage, place, 1 + op.part, 1});
  }
}

// Brings a page's block to the processor, and makes a page of it.
Task WiredTigerModel::fetch(uint32_t page) {
  const uint32_t block = block_of_[page];
  if (block == kNoBlock) {  // another client makes the page just now, in memory
    co_await busy(kPageBuildNs);
    co_return;
  }
  const bool asks = world_.tier != nullptr && world_.tier->in_engine();
  Tier::Found found;
  if (asks) {
    found = world_.tier->look_up(time_.now_ns(), block);
    co_await time_.busy_until(found.done_ns);
  }
  if (!found.hit) {
    co_await busy(kSystemCallNs);
    ++os_lookups_;
    if (os_.contains(page)) {
      ++os_hits_;
      os_.touch(page);
    } else {
      co_await read_below_os(page, block);
    }
    if (os_.contains(page)) co_await load({Kind::kBlock, os_.place(page), 0, 0});
    if (asks && is_current(page, block)) {
      const uint64_t done_ns = world_.tier->offer_read(time_.now_ns(), block, found.token);
      co_await time_.busy_until(done_ns);
    }
  }
  co_await busy(kPageBuildNs);
}

Task WiredTigerModel::read_below_os(uint32_t page, uint32_t block) {
  const bool asks = world_.tier != nullptr && !world_.tier->in_engine();
  Tier::Found found;
  if (asks) {
    found = world_.tier->look_up(time_.now_ns(), block);
    co_await time_.busy_until(found.done_ns);
  }
  if (!found.hit) {
    const uint64_t begin_ns = time_.now_ns();
    const uint64_t done_ns = world_.storage.read(begin_ns, kBlockBytes);
    co_await time_.idle_until(done_ns);
    if (world_.tier != nullptr) world_.tier->on_storage_read(done_ns - begin_ns);
  }
  if (!is_current(page, block)) co_return;
  if (!os_.contains(page)) enter_os(page);
  if (os_.contains(page)) co_await store({Kind::kBlock, os_.place(page), 0, 0});
  if (asks && !found.hit && is_current(page, block)) {
    const uint64_t done_ns = world_.tier->offer_read(time_.now_ns(), block, found.token);
    co_await time_.busy_until(done_ns);
  }
}

// Unless another client has brought it by then.
Task WiredTigerModel::enter_page(uint32_t page) {
  while (!cache_.contains(page) && cache_.full()) {
    const uint32_t victim = next_victim();
    if (dirty_.contains(victim)) {
      co_await write_out(victim);
    } else {
      cache_.leave(victim);
    }
  }
  if (cache_.contains(page)) co_return;
  cache_.enter(page);
  co_await store({Kind::kPage, cache_.place(page), 0, 0});
}

// Of a full cache.
uint32_t WiredTigerModel::next_victim() {
  return any_leaves_ ? cache_.any(victims_) : cache_.coldest();
}

// The page is dirty from here on.
Task WiredTigerModel::change(uint32_t page) {
  dirty_.touch(page);
  if (dirty_.size() > dirty_target_) {
    any_leaves_ = true;
    idle_evictors_.wake_one();
  }
  if (dirty_.size() > dirty_trigger_) co_await write_out(dirty_.coldest());
}

void WiredTigerModel::enter_os(uint32_t page) {
  if (os_.full()) {
    const uint32_t victim = os_.coldest();
    if (victim == LruList::kNone) return;  // it has no room at all
    os_.leave(victim);
  }
  os_.enter(page);
}

// The page is clean, and its block the new one, from the beginning: a change on the way makes it
// dirty again.
Task WiredTigerModel::write_out(uint32_t page) {
  const uint32_t place = cache_.place(page);
  const uint32_t old = block_of_[page];
  const uint32_t block = allocate();
  block_of_[page] = block;
  dirty_.remove(page);
  if (os_.contains(page)) {
    os_.touch(page);
  } else {
    enter_os(page);
  }
  co_await busy(kWriteOutNs);
  co_await load({Kind::kPage, place, 0, 0});
  if (os_.contains(page)) co_await store({Kind::kBlock, os_.place(page), 0, 0});
  const uint64_t backlog_ns = world_.storage.backlog_ns(time_.now_ns());
  if (backlog_ns > most_backlog_ns_) {
    co_await time_.idle_until(time_.now_ns() + backlog_ns - most_backlog_ns_);
  }
  world_.storage.write(time_.now_ns(), kBlockBytes);
  ++blocks_written_;
  if (world_.tier != nullptr) {
    if (old != kNoBlock) {
      const uint64_t done_ns = world_.tier->on_freed(time_.now_ns(), old);
      co_await time_.busy_until(done_ns);
    }
    if (is_current(page, block)) {
      const uint64_t done_ns = world_.tier->on_written(time_.now_ns(), block);
      co_await time_.busy_until(done_ns);
    }
  }
  if (old != kNoBlock) free_block(old);
  if (dirty_.size() < dirty_target_ / 2) any_leaves_ = false;
}

uint32_t WiredTigerModel::allocate() {
  uint32_t block = 0;
  if (free_blocks_.empty()) {
    block = static_cast<uint32_t>(is_new_.size());
    is_new_.push_back(true);
  } else {
    block = free_blocks_.front();
    free_blocks_.pop_front();
    is_new_[block] = true;
  }
  new_blocks_.push_back(block);
  return block;
}

// A block that no checkpoint has is free at once.
void WiredTigerModel::free_block(uint32_t block) {
  if (is_new_[block]) {
    free_blocks_.push_back(block);
  } else {
    freed_blocks_.push_back(block);
  }
}

void WiredTigerModel::end_checkpoint() {
  ++checkpoints_;
  for (const uint32_t block : new_blocks_) is_new_[block] = false;
  new_blocks_.clear();
  free_blocks_.insert(free_blocks_.end(), freed_blocks_.begin(), freed_blocks_.end());
  freed_blocks_.clear();
}

void WiredTigerModel::count(Result* result) const {
  result->page_lookups = page_lookups_;
  result->page_hits = page_hits_;
  result->os_lookups = os_lookups_;
  result->os_hits = os_hits_;
  result->blocks_written = blocks_written_;
  result->checkpoints = checkpoints_;
  result->table_scans = table_scans_;
}

StatusOr<std::unique_ptr<EngineModel>> make_wiredtiger(const World& world) {
  return std::make_unique<WiredTigerModel>(world);
}

}  // namespace nvcache::simulate
