// The memory of the engine's page cache and the OS page cache: DRAM, or NVRAM with DRAM as its
// cache (Memory Mode). Objects lie in places, numbered from 0: pages and blocks, each of one size.
//
// DRAM: a copy of a whole object takes what medium/cost_model.h says of the profile `dram`. An
// access to a part of one is among the processor's time of an operation.
//
// Memory Mode (*Writes Hurt*, section 4.1.1): DRAM is a direct-mapped cache, "with data transferred
// between the two in units of cache lines". Lines of 64 bytes are followed in groups, by default of
// 1 KiB, the size of a record, because neighbours are used together:
//
//   place of a group   frames of 4 KiB lie anywhere in the NVRAM, as the OS hands them out: a
//                      permutation that the seed chooses
//   set                group's number modulo the number of groups in the DRAM
//   hit                nothing beyond what DRAM would take
//   miss               the group is read from the NVRAM, and written to the DRAM; a group that
//                      was stored to and must leave is written to the NVRAM, and the access waits
//                      for that, too. A store that misses reads first, as a load does
//
// NVRAM is charged by the profile that was asked for: its writes hurt its reads. Sizes are scaled.
// Caller-locked.
#pragma once

#include <cstdint>
#include <memory>

#include "experiments/simulate/engine_model.h"
#include "medium/profiles.h"

namespace nvcache::simulate {

// In memory a page takes 8% more than its block: WiredTiger's default of cache_overhead.
inline constexpr uint64_t kPageBytes = kBlockBytes * 108 / 100;
inline constexpr uint64_t kGroupBytes = 1 << 10;

enum class Kind : uint8_t { kPage, kBlock };

// A range of groups in an object.
struct Part {
  Kind kind = Kind::kPage;
  uint32_t place = 0;
  uint32_t first_group = 0;
  uint32_t groups = 0;  // 0: all from the first on
};

class MainMemory {
 public:
  virtual ~MainMemory() = default;
  // When an access that begins now is done.
  virtual uint64_t load(uint64_t now_ns, const Part& part) = 0;
  virtual uint64_t store(uint64_t now_ns, const Part& part) = 0;
  virtual void count(Result* result) const = 0;
};

// How many objects there are places for, and of which sizes.
struct Places {
  uint32_t pages = 0;
  uint32_t blocks = 0;
  uint64_t page_bytes = kPageBytes;
  uint64_t block_bytes = kBlockBytes;
  uint64_t group_bytes = kGroupBytes;
};

std::unique_ptr<MainMemory> make_dram();
// Sizes are scaled; nvram_bytes holds all the places.
std::unique_ptr<MainMemory> make_memory_mode(uint64_t dram_bytes, uint64_t nvram_bytes,
                                             const Profile& nvram, const Places& places,
                                             uint64_t seed);

}  // namespace nvcache::simulate
