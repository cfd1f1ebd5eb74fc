// The simulations (experiments/simulate, engine rocksdb) that the rows of *Hybrid Cache* are taken
// from: its servers and profiles at its sizes, on one of its CPUs, with a client for each hardware
// thread. Cores, compaction and a disk with a queue are in them.
//
// The document has the format "nvcache.hybrid.simulation/1", and runs as `nvcache bench
// hybrid-cache` has them: warm halves of simulated runs. "scm_only" is RocksDB's own block cache in
// SCM (naive-scm), as in the paper: "the default RocksDB SCM implementation" (section 6.1).
// Stateless.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::reproduce {

inline constexpr const char* kMemoryModePolicy = "memory_mode";

struct HybridSimulationPlan {
  bool memory_mode_only = false;  // what its comparison needs
  uint32_t scale = 512;
  double minutes = 60;
  uint64_t seed = 1;
  std::string command;
};

// Simulates all, as many at a time as there are processors. The same plan gives the same numbers.
// CANCELLED when interrupted; the first error of one otherwise.
[[nodiscard]] StatusOr<nlohmann::json> run_hybrid_simulations(const HybridSimulationPlan& plan,
                                                              const Clock& clock);

}  // namespace nvcache::reproduce
