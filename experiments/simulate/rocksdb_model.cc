#include "experiments/simulate/rocksdb_model.h"

#include <algorithm>
#include <utility>

#include "experiments/simulate/recorder.h"
#include "experiments/simulate/storage.h"

namespace nvcache::simulate {
namespace {

constexpr uint64_t kChunkBytes = 64 << 10;
constexpr uint64_t kQueuedBlocks = 64;  // DemotionQueue::kMaxBlocks

// Times of a core. The first is what a get takes that hits in DRAM, on the machine of
// docs/results/hybrid_cache.md; the others are our choice.
constexpr uint64_t kRocksdbOperationNs = 5'000;
constexpr uint64_t kRowNs = 500;          // of a seek
constexpr uint64_t kBlockReadNs = 5'000;  // system call, checksum, entering the cache
constexpr double kMergeNsOfByte = 5;      // 200 MB/s a thread

uint64_t blocks_in(const RocksdbOperations& operations) {
  return operations.databases() * operations.blocks_of_database();
}

}  // namespace

RocksdbModel::RocksdbModel(const World& world)
    : world_(world),
      time_(world.time),
      operations_(make_rocksdb_operations(world.options)),
      tiers_(make_block_tiers(world.options, operations_->stored())),
      idle_background_(time_),
      idle_demoter_(time_),
      stalled_(time_) {
  const uint64_t data_bytes =
      operations_->pairs() / operations_->databases() * operations_->pair_bytes();
  for (uint32_t i = 0; i < operations_->databases(); ++i) {
    const double phase = static_cast<double>(i) / operations_->databases();
    LsmTree tree(data_bytes, operations_->blocks_of_database(), world.options.scale, phase);
    const double filled = phase * static_cast<double>(tree.memtable_bytes());
    databases_.push_back({.tree = std::move(tree),
                          .filled_bytes = static_cast<uint64_t>(filled),
                          .pairs = {},
                          .full_pairs = {}});
  }
}

std::vector<Task> RocksdbModel::tasks() {
  std::vector<Task> tasks;
  for (uint32_t i = 0; i < world_.options.clients; ++i) tasks.push_back(client(i));
  for (uint32_t i = 0; i < world_.options.cores; ++i) tasks.push_back(background());
  tasks.push_back(demoter());
  return tasks;
}

bool RocksdbModel::is_warm() const { return time_.now_ns() >= world_.recorder.half_ns(); }

// ---- clients

Task RocksdbModel::client(uint32_t number) {
  for (;;) {
    const uint64_t begin_ns = time_.now_ns();
    const RocksdbOperation op = operations_->next(number);
    co_await busy(kRocksdbOperationNs + (op.type == OpType::kScan ? op.rows * kRowNs : 0));
    Database& database = databases_[op.database];
    if (op.type == OpType::kUpdate) {
      co_await put(op);
    } else if (op.type == OpType::kScan ||
               (!database.pairs.contains(op.pair) && !database.full_pairs.contains(op.pair))) {
      for (uint32_t i = 0; i < op.blocks; ++i) {
        const uint64_t block = std::min(op.block + i, blocks_in(*operations_) - 1);
        co_await read_block(op.database, block, i == 0 ? op.at : 0);
      }
    }
    world_.recorder.finish(op.type, begin_ns, time_.now_ns());
  }
}

Task RocksdbModel::read_block(uint32_t database, uint64_t number, double at) {
  const uint64_t first = database * operations_->blocks_of_database();
  const auto name = [&] {
    return BlockName{number, databases_[database].tree.version_of(number - first)};
  };
  const BlockName block = name();
  const BlockTiers::Found found = tiers_->look_up(time_.now_ns(), block, at);
  if (is_warm()) {
    ++warm_.lookups;
    if (found.hit) ++warm_.hits;
  }
  co_await time_.busy_until(found.done_ns);
  if (!found.hit) {
    const uint64_t begin_ns = time_.now_ns();
    co_await time_.idle_until(world_.storage.read(begin_ns, kRocksdbBlockBytes));
    if (is_warm()) warm_.storage_ns.record(time_.now_ns() - begin_ns);
    co_await busy(kBlockReadNs);
    const uint64_t done_ns = tiers_->insert(time_.now_ns(), block);
    co_await time_.busy_until(done_ns);
  }
  if (tiers_->owed_blocks() == 0) co_return;
  if (tiers_->owed_blocks() > kQueuedBlocks) {
    co_await time_.busy_until(tiers_->write_owed(time_.now_ns()));
  } else {
    idle_demoter_.wake_one();
  }
}

bool RocksdbModel::may_put(const Database& database) const {
  const bool full = database.filled_bytes >= database.tree.memtable_bytes();
  return !(full && database.has_full) && !database.tree.must_stop();
}

Task RocksdbModel::put(RocksdbOperation op) {
  Database& database = databases_[op.database];
  while (!may_put(database)) co_await stalled_.park();
  enter_memtable(database, op.pair);
  log_bytes_ += operations_->pair_bytes();
  if (log_bytes_ < kChunkBytes) co_return;
  log_bytes_ -= kChunkBytes;
  world_.storage.write(time_.now_ns(), kChunkBytes);
}

void RocksdbModel::enter_memtable(Database& database, uint64_t pair) {
  if (database.filled_bytes >= database.tree.memtable_bytes()) {
    database.has_full = true;
    database.full_pairs = std::exchange(database.pairs, {});
    database.filled_bytes = 0;
    idle_background_.wake_one();
  }
  database.pairs.insert(pair);
  database.filled_bytes += operations_->pair_bytes();
}

// ---- background

RocksdbModel::Database* RocksdbModel::to_flush() {
  for (Database& database : databases_) {
    if (database.has_full && !database.is_flushing) return &database;
  }
  return nullptr;
}

RocksdbModel::Database* RocksdbModel::to_merge() {
  for (size_t i = 0; i < databases_.size(); ++i) {
    Database& database = databases_[next_merge_++ % databases_.size()];
    if (database.tree.has_job()) return &database;
  }
  return nullptr;
}

Task RocksdbModel::background() {
  for (;;) {
    if (Database* const full = to_flush(); full != nullptr) {
      co_await flush(*full);
    } else if (Database* const due = to_merge(); due != nullptr) {
      co_await merge(*due);
    } else {
      co_await idle_background_.park();
    }
  }
}

Task RocksdbModel::flush(Database& database) {
  database.is_flushing = true;
  co_await transfer(0, database.tree.memtable_bytes());
  database.tree.flushed();
  database.is_flushing = false;
  database.has_full = false;
  database.full_pairs.clear();
  for (uint32_t i = 0; i < world_.options.clients; ++i) stalled_.wake_one();
  idle_background_.wake_one();
}

Task RocksdbModel::merge(Database& database) {
  const MergeJob job = database.tree.take_job();
  idle_background_.wake_one();  // there may be more
  co_await transfer(job.read_bytes, job.written_bytes);
  database.tree.finish(job);
  for (uint32_t i = 0; i < world_.options.clients; ++i) stalled_.wake_one();
}

Task RocksdbModel::transfer(uint64_t read_bytes, uint64_t written_bytes) {
  while (read_bytes > 0 || written_bytes > 0) {
    const uint64_t read = std::min(read_bytes, kChunkBytes);
    const uint64_t written = std::min(written_bytes, kChunkBytes);
    if (read > 0) co_await time_.idle_until(world_.storage.read(time_.now_ns(), read));
    co_await busy(
        static_cast<uint64_t>(static_cast<double>(std::max(read, written)) * kMergeNsOfByte));
    if (written > 0) co_await time_.idle_until(world_.storage.write(time_.now_ns(), written));
    read_bytes -= read;
    written_bytes -= written;
    blocks_written_ += written / kRocksdbBlockBytes;
  }
}

Task RocksdbModel::demoter() {
  for (;;) {
    if (tiers_->owed_blocks() == 0) {
      co_await idle_demoter_.park();
    } else {
      co_await time_.busy_until(tiers_->write_owed(time_.now_ns()));
    }
  }
}

void RocksdbModel::count(Result* result) const {
  tiers_->count(result);
  result->blocks_written = blocks_written_;
  result->warm_hit_ratio =
      warm_.lookups == 0 ? 0 : static_cast<double>(warm_.hits) / static_cast<double>(warm_.lookups);
  result->warm_storage_latency = latency_of(warm_.storage_ns);
}

StatusOr<std::unique_ptr<EngineModel>> make_rocksdb(const World& world) {
  return std::make_unique<RocksdbModel>(world);
}

}  // namespace nvcache::simulate
