// What `nvcache bench hybrid-cache` was asked to do.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "experiments/harness/emulated_name.h"
#include "experiments/harness/result_files.h"
#include "experiments/hybrid_cache/profile_command.h"
#include "experiments/workload/profile.h"

namespace nvcache::hybrid_cache {

struct Options {
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
  uint32_t rounds = 3;
  double seconds = 8;
  double warmup_seconds = 8;
  uint64_t seed = 1;
  std::string db;  // empty: a temporary folder
  bool keep_db = false;
  ResultFiles files;
  std::string command;  // as typed

  bool emulated() const { return is_emulated(medium) || storage != "disk"; }
  // Table 4 is arithmetic alone.
  bool needs_runs() const { return !figures.empty() || tables.contains(5); }
  bool needs_two_sockets() const { return figures.contains(13) || tables.contains(5); }
  bool needs_all_workloads() const {
    return figures.contains(10) || figures.contains(12) || needs_two_sockets();
  }
};

}  // namespace nvcache::hybrid_cache
