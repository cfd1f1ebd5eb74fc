#include "experiments/simulate/rocksdb_operations.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "base/prng.h"
#include "experiments/run/profile_files.h"
#include "experiments/simulate/keys.h"
#include "experiments/simulate/tables.h"
#include "experiments/workload/profile_stream.h"

namespace nvcache::simulate {
namespace {

// Beside blocks: filters of 10 bits a pair (docs/results/hybrid_cache.md), 50 bytes of the index a
// block. Of whatsapp 13 GB in all; Table 4 of *Hybrid Cache* says 10 to 15.
constexpr double kFilterBytesOfPair = 10.0 / 8;
constexpr uint64_t kIndexBytesOfBlock = 50;

OpType type_of(ProfileOpType type) {
  switch (type) {
    case ProfileOpType::kPut:
      return OpType::kUpdate;
    case ProfileOpType::kSeek:
      return OpType::kScan;
    case ProfileOpType::kGet:
      break;
  }
  return OpType::kRead;
}

WorkloadProfile scaled(const Options& options) {
  auto found = find_workload_profile(options.workload);
  NVCACHE_ASSERT(found.ok());
  WorkloadProfile profile = *std::move(found);
  const double share = static_cast<double>(options.dataset_bytes) / profile.data_bytes();
  profile.keys_per_database =
      static_cast<uint64_t>(static_cast<double>(profile.keys_per_database) * share / options.scale);
  profile.keys_per_database = std::max(profile.keys_per_database, profile.run_keys);
  profile.repeat_last = std::max(profile.repeat_last / options.scale, 1u);
  return profile;
}

uint64_t pair_bytes_of(const WorkloadProfile& profile) {
  return static_cast<uint64_t>(profile.key_bytes + profile.mean_value_bytes());
}

class ProfileOperations final : public RocksdbOperations {
 public:
  ProfileOperations(const Options& options, const WorkloadProfile& profile)
      : RocksdbOperations(
            profile.databases,
            profile.keys_per_database / (kRocksdbBlockBytes / pair_bytes_of(profile)) + 2,
            profile.keys_per_database * profile.databases, pair_bytes_of(profile)),
        profile_(profile),
        pairs_of_block_(kRocksdbBlockBytes / pair_bytes()),
        law_(profile_, profile_.keys_per_database, options.seed) {
    for (uint32_t client = 0; client < options.clients; ++client) {
      streams_.emplace_back(profile_, law_, thread_seed(options.seed, client));
    }
  }

  RocksdbOperation next(uint32_t client) override {
    const ProfileOperation drawn = streams_[client].next();
    RocksdbOperation op;
    op.type = type_of(drawn.type);
    op.database = drawn.database;
    op.pair = drawn.number;
    const uint64_t in_block = drawn.number % pairs_of_block_;
    op.block = drawn.database * blocks_of_database() + drawn.number / pairs_of_block_;
    op.at = static_cast<double>(in_block) / static_cast<double>(pairs_of_block_);
    if (op.type == OpType::kScan) {
      op.rows = profile_.seek_rows;
      op.blocks = 1 + static_cast<uint32_t>((in_block + op.rows) / pairs_of_block_);
    }
    return op;
  }

 private:
  const WorkloadProfile profile_;
  const uint64_t pairs_of_block_;
  const ProfileKeys law_;
  std::vector<ProfileStream> streams_;
};

// One database. A page of keys.h is a block.
class YcsbOperations final : public RocksdbOperations {
 public:
  static constexpr uint64_t kRecordBytes = 1024;

  YcsbOperations(const Options& options, const WorkloadRow& row, uint32_t blocks)
      : RocksdbOperations(1, uint64_t{2} * blocks, uint64_t{blocks} * row.records_per_page,
                          kRecordBytes),
        row_(row),
        keys_(row_, blocks, options.scale) {
    for (uint32_t client = 0; client < options.clients; ++client) {
      prngs_.emplace_back(thread_seed(options.seed, client));
    }
  }

  RocksdbOperation next(uint32_t client) override {
    const PageOperation drawn = keys_.next(prngs_[client]);
    RocksdbOperation op;
    op.type = drawn.type == OpType::kInsert ? OpType::kUpdate : drawn.type;
    op.block = drawn.splits ? drawn.new_page : drawn.page;
    op.pair = op.block * kRecordParts + drawn.part;
    op.at = static_cast<double>(drawn.part) / kRecordParts;
    op.blocks = drawn.pages;
    op.rows = drawn.rows;
    return op;
  }

 private:
  const WorkloadRow row_;
  Keys keys_;
  std::vector<Prng> prngs_;
};

}  // namespace

StoredSizes RocksdbOperations::stored() const {
  const uint64_t blocks = databases_ * blocks_of_database_;
  return {.blocks = blocks,
          .filter_bytes = static_cast<uint64_t>(static_cast<double>(pairs_) * kFilterBytesOfPair),
          .index_bytes = blocks * kIndexBytesOfBlock};
}

std::unique_ptr<RocksdbOperations> make_rocksdb_operations(const Options& options) {
  const WorkloadRow* const ycsb = find_row(kWorkloads, options.workload);
  if (ycsb == nullptr) return std::make_unique<ProfileOperations>(options, scaled(options));
  WorkloadRow row = *ycsb;
  row.records_per_page = kRocksdbBlockBytes / YcsbOperations::kRecordBytes;
  const auto blocks =
      static_cast<uint32_t>(options.dataset_bytes / options.scale / kRocksdbBlockBytes);
  return std::make_unique<YcsbOperations>(options, row, blocks);
}

}  // namespace nvcache::simulate
