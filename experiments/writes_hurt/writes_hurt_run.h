// Runs the evaluation of *Writes Hurt* and makes one JSON document of it, of kind "paper"
// (experiments/harness/paper_parts.h), format "nvcache.paper/1": also
//
//   databases[]   workload, variant, bytes
//   runs[]        wtperf's, see wtperf_runs.h; then YCSB's, as experiments/run/result.h has them:
//                 "variant" is "dram-32" in Figure 7 and "split-32" in Figure 8, with the GB of
//                 DRAM
//   ycsb_engine{}
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "experiments/harness/emulated_name.h"
#include "experiments/run/experiments.h"
#include "experiments/writes_hurt/workloads.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::writes_hurt {

// The options of `nvcache bench writes-hurt`. Times are wtperf's, in whole seconds.
struct Options : RunOptions {
  Options() {
    seconds = 30;
    warmup_seconds = 15;
  }

  std::string engine = "wiredtiger";
  std::set<int> figures;                   // of 4 to 8
  std::set<int> tables;                    // of 1 to 4
  std::vector<const Workload*> workloads;  // in-house
  std::string ycsb;                        // letters
  std::set<std::string> configurations;    // of Figure 6 and Table 2; empty: all
  std::string medium = "emulated:optane";
  double ycsb_seconds = 20;
  double ycsb_warmup_seconds = 20;
  std::string wtperf;
  std::string extension;
  std::string workload_dir;

  bool emulated() const { return is_emulated(medium); }
  bool needs_small() const { return figures.contains(4) || figures.contains(5); }
  bool needs_large() const { return figures.contains(6) || tables.contains(2); }
  bool needs_table1() const { return tables.contains(1); }
  bool needs_wtperf() const { return needs_small() || needs_large() || needs_table1(); }
  bool needs_ycsb() const { return figures.contains(7) || figures.contains(8); }
};

[[nodiscard]] StatusOr<nlohmann::json> run_writes_hurt(const Options& options, const Clock& clock);

// The figures and tables from "setup", "runs" and "databases" of a document. Those that were not
// asked for, or that have no runs, are left out.
nlohmann::json make_figures(const nlohmann::json& document);

// The runs of YCSB that Figures 7 and 8 need.
std::vector<Experiment> plan_ycsb(const Options& options);

// Runs and how long they take, as a line of text.
std::string estimate(const Options& options);

}  // namespace nvcache::writes_hurt
