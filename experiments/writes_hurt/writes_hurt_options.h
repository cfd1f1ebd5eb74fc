// What `nvcache bench writes-hurt` was asked to do.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "experiments/harness/emulated_name.h"
#include "experiments/harness/result_files.h"
#include "experiments/writes_hurt/workloads.h"

namespace nvcache::writes_hurt {

struct Options {
  std::string engine = "wiredtiger";
  std::set<int> figures;                   // of 4 to 8
  std::set<int> tables;                    // of 1 to 4
  std::vector<const Workload*> workloads;  // in-house
  std::string ycsb;                        // letters
  std::set<std::string> configurations;    // of Figure 6 and Table 2; empty: all
  std::string medium = "emulated:optane";
  uint32_t rounds = 3;
  double seconds = 30;  // measured; whole seconds for wtperf
  double warmup_seconds = 15;
  double ycsb_seconds = 20;
  double ycsb_warmup_seconds = 20;
  std::string wtperf;
  std::string extension;
  std::string workload_dir;
  std::string db;  // empty: a temporary folder
  bool keep_db = false;
  ResultFiles files;
  std::string command;  // as typed

  bool emulated() const { return is_emulated(medium); }
  bool needs_small() const { return figures.contains(4) || figures.contains(5); }
  bool needs_large() const { return figures.contains(6) || tables.contains(2); }
  bool needs_table1() const { return tables.contains(1); }
  bool needs_wtperf() const { return needs_small() || needs_large() || needs_table1(); }
  bool needs_ycsb() const { return figures.contains(7) || figures.contains(8); }
};

}  // namespace nvcache::writes_hurt
