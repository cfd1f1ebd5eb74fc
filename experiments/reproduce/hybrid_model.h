// *Hybrid Cache*'s evaluation without RocksDB: the profiles' operations, the real TieredCache over
// emulated SCM, and a model of the rest, under virtual time. The same seed gives the same result.
//
//   clients     eight, each with one operation at a time: the experiment's two clients, each of
//               whom stands for four of the SSD (docs/results/hybrid_cache.md)
//   get, seek   5 us of processor time; the block is looked up; a miss reads 16 KiB of
//               emulated:flash, which all clients share, and inserts the block
//   put         5 us: memtables lie in DRAM
//   demotion    a thread of its own writes what leaves DRAM to SCM; a client waits for it once 64
//               blocks are queued. Where new blocks go to SCM first, or to SCM alone, the client
//               that brings one writes it
//
//   Memory Mode model_caches.h: filters and indexes lie in it, too. Elsewhere they stay in DRAM,
//               and cost nothing beyond an operation's processor time
//
// 5 us is what a get takes that hits in DRAM, on the machine of docs/results/hybrid_cache.md. Not
// modelled: processors that are short, and compaction.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "experiments/reproduce/evidence.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::reproduce {

inline constexpr const char* kMemoryModePolicy = "memory_mode";

struct HybridModelPlan {
  uint64_t gb_bytes = 512 << 10;  // a GB of the paper
  uint64_t operations = 400'000;  // measured, of each run, after as many to warm up
  uint64_t seed = 1;
  bool memory_mode_only = false;  // what its comparison needs
  std::string command;
};

// All servers and policies: runs as `nvbench hybrid-cache` has them, and besides "memory_mode" of
// the servers with SCM, and "scm_only" of 64-0: SCM of the size of its DRAM. DATA_LOSS where a
// cache found another block. CANCELLED when interrupted.
[[nodiscard]] StatusOr<nlohmann::json> run_hybrid_model(const HybridModelPlan& plan,
                                                        const Clock& clock);

}  // namespace nvcache::reproduce
