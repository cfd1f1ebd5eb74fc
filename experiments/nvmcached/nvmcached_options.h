// The options of `nvcache bench nvmcached`.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/harness/result_files.h"
#include "experiments/workload/kv_trace.h"

namespace nvcache::nvmcached {

inline constexpr double kPaperCacheBytes = 64.0 * (1ull << 30);  // 4.1
inline constexpr double kPaperDropBytes = 60.0 * (1ull << 20);

struct Options {
  std::set<int> figures;  // of 3, 4, 5
  bool restart = false;
  std::vector<std::string> media{"emulated:dram", "emulated:optane"};
  std::vector<Trace> traces;
  std::vector<uint32_t> value_bytes{100, 1000, 10000};
  std::vector<double> get_percents{100, 95, 75, 50, 25, 5, 0};
  uint64_t cache_bytes = 128ull << 20;  // of each system
  uint64_t requests = 400'000;          // measured, of each run
  uint32_t rounds = 3;
  uint64_t window = 200'000;                  // requests, of Figure 3
  std::optional<uint64_t> write_cache_bytes;  // of Figure 3's stores; theirs by default
  uint64_t restart_items = 10'000'000;
  uint64_t seed = 1;
  std::string folder;  // of the restart's file; empty: a temporary one
  ResultFiles files;
  std::string command;  // as typed

  bool emulated() const { return figures.contains(4) || figures.contains(5); }
};

}  // namespace nvcache::nvmcached
