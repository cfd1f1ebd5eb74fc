// Runs *Hybrid Cache*'s evaluation on RocksDB and makes one JSON document of it, of kind "paper"
// (experiments/harness/paper_parts.h), format "nvcache.hybrid/1": also
//
//   workloads[]  the profiles' parameters
//   databases[]  workload, pairs, bytes, load_seconds
//   runs[]       as experiments/run/result.h has them: `configuration` is the policy, and "variant"
//                the server
//   paper[]      what *Hybrid Cache* says: id, where, value, what
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "experiments/harness/emulated_name.h"
#include "experiments/run/experiments.h"
#include "experiments/run/profile_load.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::hybrid_cache {

// The options of `nvcache bench hybrid-cache`.
struct Options : BenchOptions {
  Options() {
    seconds = warmup_seconds = 8;
    go_on = true;
  }

  std::set<int> figures;                   // of 9 to 13
  std::set<int> tables;                    // of 4 and 5
  std::vector<WorkloadProfile> workloads;  // the first is that of Figures 9 and 11
  std::set<std::string> policies;          // of Figure 9
  // Clients of SCM and of the SSD, for each that runs: docs/results/hybrid_cache.md says to what
  // that is fitted.
  std::string medium = "emulated:optane,load=2";
  std::string storage = "emulated:flash,load=4";
  uint64_t gb_bytes = kDefaultGbBytes;  // a GB of *Hybrid Cache*
  uint32_t threads = 0;                 // 0: each profile's

  bool emulated() const { return is_emulated(medium) || storage != "disk"; }
  // Table 4 is arithmetic alone.
  bool needs_runs() const { return !figures.empty() || tables.contains(5); }
  bool needs_two_sockets() const { return figures.contains(13) || tables.contains(5); }
  bool needs_all_workloads() const {
    return figures.contains(10) || figures.contains(12) || needs_two_sockets();
  }
};

// Returns the experiments that the figures and tables need, by workload; nothing twice. An SCM-only
// cache of 64-128 is that of 32-128.
std::vector<Experiment> plan_experiments(const Options& options);

// Runs and how long they take, as a line of text.
std::string estimate(const Options& options);

// The figures and tables of section 6 from "setup" and "runs" of a document, each beside what the
// paper says. Those that were not asked for, or that have no runs, are left out.
nlohmann::json make_figures(const nlohmann::json& document);

// CANCELLED when interrupted. A run that fails is reported in "runs", and the next goes on.
[[nodiscard]] StatusOr<nlohmann::json> run_hybrid_cache(const Options& options, const Clock& clock);

}  // namespace nvcache::hybrid_cache
