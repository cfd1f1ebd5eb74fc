// The simulations (experiments/simulate) that the rows of *Writes Hurt* and of its comparison with
// Memory Mode are taken from: its workloads at its sizes, with its clients and cores.
//
// A document of them has the format "nvcache.simulations/1". Its runs[] are named as origin.h says;
// they have metrics{} (numbers of simulate::Result by name), seed and scale. Stateless.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "experiments/reproduce/evidence.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::reproduce {

inline constexpr int kSimulatedDramGb = 32;
inline constexpr int kSimulatedNvramGb[] = {64, 128, 252};
inline constexpr const char* kYcsbLetters[] = {"a", "b", "c", "d", "e"};

inline constexpr const char* kStressWorkload = "evict-bt-stress-multi";
inline constexpr const char* kScanWorkload = "evict-btree-scan";
inline constexpr int kObpNvramGb = 128;  // of the runs with other OBP targets

// One to run. nvram_gb is 0 where there is none.
struct Scenario {
  std::string workload;
  std::string configuration;
  int dram_gb = kSimulatedDramGb;
  int nvram_gb = 0;
  int data_gb = 0;
};

// The small variant of evict-bt-stress-multi: 100 million rows of 120 bytes, 16 GB of DRAM
// (section 3.2.3; the rows are those of WiredTiger's runner).
Scenario small_stress(const char* configuration);

// Returns the simulations that the rows of a selection need ("memory-mode", "writes-hurt", "" for
// all); none for others.
std::vector<Scenario> planned_simulations(const std::string& only);

struct SimulationPlan {
  std::vector<Scenario> scenarios;
  uint32_t scale = 512;
  double minutes = 60;
  uint64_t seed = 1;
  std::string command;
};

// Simulates all, as many at a time as there are processors. The same plan gives the same numbers.
// CANCELLED when interrupted; the first error of one otherwise.
[[nodiscard]] StatusOr<nlohmann::json> run_simulations(const SimulationPlan& plan,
                                                       const Clock& clock);

// The Memory Mode text's open question, as far as simulations answer it: how much throughput varies
// in the second half of a run. [{"workload", "nvram_gb", "memory_mode", "nvcache"}], both as the
// standard deviation over the mean; empty without simulations.
nlohmann::json memory_mode_spread(const Evidence& evidence);

}  // namespace nvcache::reproduce
