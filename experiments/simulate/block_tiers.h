// The block cache under a model of RocksDB: blocks of 16 KiB in DRAM, in NVRAM, or in both. Each
// call begins at `now_ns`, and says when it is done for the client that made it.
//
//   tiered       the real TieredCache with its placement policies, on DRAM and a phantom of the
//                NVRAM. A hit in NVRAM reads in place what a search touches: the block's end, where
//                the restart points are, and then a restart interval, a quarter of a block. A
//                block that is promoted is read whole; with `copied` all are, as nvcache's adapter
//                for RocksDB does it
//   naive SCM    RocksDB's own LRU, with its blocks in the NVRAM, and read in place. Who brings a
//                block writes it
//   Memory Mode  the same LRU, and filters and indexes as well, in a memory of NVRAM with DRAM as
//                its direct-mapped cache (main_memory.h), in groups of 256 bytes, what an NVDIMM
//                moves. A lookup reads a group of a filter, one of an index, and of a block that is
//                there as above. Elsewhere filters and indexes lie in DRAM: their cost is among
//                the processor's time of an operation
//
// A block that leaves the DRAM of a tiered cache is demoted in the background: it is in the lower
// tier at once, and the write to the NVRAM is owed. The model of the thread that demotes pays it.
// Writes of blocks that go to the NVRAM first (policy scm_first, or without DRAM) are the client's
// own.
//
// Sizes are scaled. Caller-locked.
#pragma once

#include <cstdint>
#include <memory>

#include "experiments/simulate/simulate.h"
#include "nvcache/status_or.h"

namespace nvcache::simulate {

inline constexpr uint64_t kRocksdbBlockBytes = 16 << 10;  // *Hybrid Cache*, section 4.1.1

inline constexpr uint64_t kBlockEndBytes = 256;   // what an NVDIMM moves at once
inline constexpr uint64_t kIntervalsOfBlock = 4;  // restart intervals of 16 pairs of 250 bytes
inline constexpr uint64_t kIntervalBytes = kRocksdbBlockBytes / kIntervalsOfBlock;

// A block of a file that compaction wrote: a later file has another version of the same range.
struct BlockName {
  uint64_t number = 0;  // below the number of blocks on the disk
  uint32_t version = 0;
};

class BlockTiers {
 public:
  virtual ~BlockTiers() = default;

  struct Found {
    bool hit = false;
    bool in_first_tier = false;
    uint64_t done_ns = 0;
  };
  // `at` in [0, 1): where in the block the pair is.
  virtual Found look_up(uint64_t now_ns, const BlockName& block, double at) = 0;
  // A block that was read after a miss.
  virtual uint64_t insert(uint64_t now_ns, const BlockName& block) = 0;

  // Demotions whose writes are owed; the first of them, and when it is done.
  virtual uint64_t owed_blocks() const { return 0; }
  virtual uint64_t write_owed(uint64_t now_ns) { return now_ns; }

  virtual void count(Result* result) const = 0;
};

// The bytes that pairs and blocks need beside the blocks, and how much there is of each.
struct StoredSizes {
  uint64_t blocks = 0;
  uint64_t filter_bytes = 0;
  uint64_t index_bytes = 0;
};

// `options` are complete. May throw std::bad_alloc.
std::unique_ptr<BlockTiers> make_block_tiers(const Options& options, const StoredSizes& stored);

// The three kinds.
std::unique_ptr<BlockTiers> make_tiered_blocks(const Options& options);
std::unique_ptr<BlockTiers> make_naive_scm(const Options& options, const StoredSizes& stored);
std::unique_ptr<BlockTiers> make_memory_mode_blocks(const Options& options,
                                                    const StoredSizes& stored);

}  // namespace nvcache::simulate
