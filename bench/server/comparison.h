// Compares nvcached with memcached on one machine, in one run: requests per second of the server's
// own CPU, and what a restart costs. Caller-locked; errors say which server failed and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nvcache/status_or.h"

namespace nvcache::bench {

struct Mix {
  const char* name;
  double set_share;
};
inline constexpr Mix kMixes[] = {{"GET", 0}, {"90:10", 0.1}, {"50:50", 0.5}, {"SET", 1}};

struct ComparisonOptions {
  std::string nvcached;  // path of the program; so is memcached
  std::string memcached;
  std::string folder;    // for nvcached's data, on the file system to measure
  uint32_t rounds = 5;   // pairs
  double seconds = 0.5;  // of each half of a pair
  uint32_t memory_mib = 512;
  std::vector<uint32_t> value_bytes = {100, 1000, 10000};
  std::vector<std::string> mixes = {"GET", "90:10", "50:50", "SET"};
  uint64_t seed = 1;
};

// One server in one half of a pair.
struct Half {
  double requests_per_cpu_second = 0;
  double requests_per_second = 0;
  double hit_share = 1;
};

struct MixResult {
  uint32_t value_bytes = 0;
  std::string mix;
  std::vector<Half> nvcached;
  std::vector<Half> memcached;
};

// Fills new servers (mix "fill"). Then fills two more, writes twice their memory, and measures the
// other mixes on them. Calls `say` with lines of progress. Wrong values
// are an error.
[[nodiscard]] StatusOr<std::vector<MixResult>> compare_throughput(const ComparisonOptions& options,
                                                                  void (*say)(const std::string&));

struct RestartResult {
  uint64_t items = 0;
  uint32_t value_bytes = 0;
  double nvcached_bytes_per_item = 0;       // of the medium: pages of the file that are in memory
  double nvcached_dram_bytes_per_item = 0;  // anonymous memory
  double memcached_bytes_per_item = 0;      // anonymous memory
  double seconds_to_serving = 0;            // from the start of the process to the first answer
  double share_found = 0;                   // of keys drawn at random, after kill -9
  uint64_t asked = 0;
};

// Fills both servers with the same items, kills nvcached with SIGKILL, and starts it again.
[[nodiscard]] StatusOr<RestartResult> compare_restart(const ComparisonOptions& options,
                                                      uint64_t items, uint32_t value_bytes,
                                                      void (*say)(const std::string&));

}  // namespace nvcache::bench
