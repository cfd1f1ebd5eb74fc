// Runs experiments in turn: each round goes through all of a database, so that what is compared is
// run one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/command/progress.h"
#include "base/clock.h"
#include "experiments/engines/engine.h"
#include "experiments/harness/run_options.h"
#include "experiments/run/databases.h"
#include "experiments/run/load.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache {

struct Experiment {
  std::shared_ptr<const Load> load;
  std::string configuration;  // its name
  EngineOptions engine;       // without directory and databases
  uint32_t threads = 1;
  nlohmann::json more = nlohmann::json::object();  // goes into each of its runs
};

struct BenchOptions : RunOptions {
  uint32_t first_round = 0;     // its number: rounds of other numbers see other operations
  uint32_t warmup_threads = 0;  // if more than those of the experiment
  uint64_t warmup_ops = 0;      // ends the warm-up sooner; 0: no limit
  bool keep_tier = false;       // each configuration's tier stays open from run to run
  double rewarm_seconds = 3;    // warm-up of runs with a warm tier, with keep_tier
  bool awake = false;           // processors are kept from halting
  bool go_on = false;           // a run that fails is reported ("error"), and the next goes on
};

struct ExperimentRuns {
  nlohmann::json runs = nlohmann::json::array();       // see result.h
  nlohmann::json databases = nlohmann::json::array();  // {"workload", "pairs", "bytes",
                                                       // "load_seconds"}: null if they were there
};

// The seed of the operations of a load in a round (1 and up): the same for all configurations,
// another for each load and round. A tier that is kept would know the keys of a load that drew the
// same ones before it.
uint64_t seed_of(const BenchOptions& options, const Load& load, uint32_t round);

// Mistakes in specifications, before anything is loaded: INVALID_ARGUMENT names the configuration.
[[nodiscard]] Status check_experiments(const EngineKind& kind,
                                       const std::vector<Experiment>& experiments);

// CANCELLED when interrupted.
[[nodiscard]] StatusOr<ExperimentRuns> run_experiments(EngineKind& kind, Databases& databases,
                                                       const std::vector<Experiment>& experiments,
                                                       const BenchOptions& options,
                                                       const Clock& clock, Progress& progress);

}  // namespace nvcache
