// The operations of a simulated RocksDB's clients, block by block: the profiles of *Hybrid Cache*
// (workload/profile_stream.h), or YCSB (keys.h), on a scaled dataset.
//
// A profile at scale S has 1/S of the keys in each database; the power law, its runs of neighbours
// and the shares of operations stay. Repeats go to the last 1/S of the pairs, one at least: a
// moment stays one. The same seed, the same operations. Caller-locked.
#pragma once

#include <cstdint>
#include <memory>

#include "experiments/simulate/block_tiers.h"
#include "experiments/simulate/simulate.h"
#include "experiments/workload/ycsb.h"

namespace nvcache::simulate {

struct RocksdbOperation {
  OpType type = OpType::kRead;  // kUpdate: a put
  uint32_t database = 0;
  uint64_t pair = 0;    // of the database
  uint64_t block = 0;   // of all databases: the first
  double at = 0;        // in [0, 1): where in it the pair is
  uint32_t blocks = 1;  // one after the other, for scans
  uint32_t rows = 1;
};

class RocksdbOperations {
 public:
  virtual ~RocksdbOperations() = default;
  virtual RocksdbOperation next(uint32_t client) = 0;

  uint32_t databases() const { return databases_; }
  uint64_t blocks_of_database() const { return blocks_of_database_; }
  uint64_t pairs() const { return pairs_; }  // of all databases
  uint64_t pair_bytes() const { return pair_bytes_; }
  StoredSizes stored() const;

 protected:
  RocksdbOperations(uint32_t databases, uint64_t blocks_of_database, uint64_t pairs,
                    uint64_t pair_bytes)
      : databases_(databases),
        blocks_of_database_(blocks_of_database),
        pairs_(pairs),
        pair_bytes_(pair_bytes) {}

 private:
  const uint32_t databases_;
  const uint64_t blocks_of_database_;
  const uint64_t pairs_;
  const uint64_t pair_bytes_;
};

// `options` are complete.
std::unique_ptr<RocksdbOperations> make_rocksdb_operations(const Options& options);

}  // namespace nvcache::simulate
