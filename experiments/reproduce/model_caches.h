// Block caches under a clock of steps: the real TieredCache over emulated SCM, and Memory Mode,
// which is a model. Blocks have numbers and 16 KiB; what they hold plays no part.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "nvcache/status_or.h"

namespace nvcache::reproduce {

inline constexpr uint64_t kModelBlockBytes = 16 << 10;  // *Hybrid Cache*, section 4.1.1

// The time of the client whose step is carried out. A wait ends at once, later. Caller-locked.
class StepClock final : public Clock {
 public:
  uint64_t now_ns() const override { return now_ns_; }
  void wait_until_ns(uint64_t when_ns) override {
    if (when_ns > now_ns_) now_ns_ = when_ns;
  }
  void set_ns(uint64_t now_ns) { now_ns_ = now_ns; }

 private:
  uint64_t now_ns_ = 0;
};

// Caller-locked. What an access takes passes on the clock.
class ModelCache {
 public:
  virtual ~ModelCache() = default;
  // `at` in [0, 1): which part of the block a read is about.
  virtual bool lookup(uint64_t block, double at) = 0;
  virtual void insert(uint64_t block) = 0;
  // Blocks that were found and were another one: must stay 0.
  virtual uint64_t wrong() const { return 0; }
};

// A TieredCache by its specification; its emulated media run on the clock, which must outlive it.
[[nodiscard]] StatusOr<std::unique_ptr<ModelCache>> make_tiered_model(const std::string& spec,
                                                                      StepClock& clock);

struct MemoryModeSizes {
  uint64_t dram_bytes = 0;    // all of it: the cache of what follows
  uint64_t block_bytes = 0;   // of the block cache
  uint64_t filter_bytes = 0;  // that all pairs share
  uint64_t index_bytes = 0;   // that all blocks share
  uint64_t blocks = 1;        // that there are on storage
};

// A block cache in Memory Mode: an LRU of blocks, filters and indexes lie in emulated:optane, and
// DRAM is a direct-mapped cache of it (*Writes Hurt*, section 4.1.1, says how Memory Mode works).
// Lines are followed in groups of 256 bytes, what the module moves at once:
//
//   place   frames of 4 KiB lie anywhere, by a permutation that the seed chooses; a group's place
//           modulo the groups of DRAM is the one place in DRAM where it can be
//   lookup  a group of a filter, which any pair can have; that of the block's entry in the index;
//           of a block that is there, a restart interval of 16 pairs and the last group, which has
//           the restart points. Each of the three waits for the one before
//   insert  the block is written whole
//   miss    the group is read from SCM; if the group that must leave was written, it is written to
//           SCM. The access waits for both, as a store that misses does
//   hit     costs nothing here: a DRAM access is part of an operation's processor time
std::unique_ptr<ModelCache> make_memory_mode_model(const MemoryModeSizes& sizes, StepClock& clock,
                                                   uint64_t seed);

}  // namespace nvcache::reproduce
