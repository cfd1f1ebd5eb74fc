// Several simulations: workloads by configurations by sizes of NVRAM by seeds. Each of them is
// simulated by one thread, and its result depends on nothing but its options.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/simulate/simulate.h"
#include "nvcache/status_or.h"

namespace nvcache::simulate {

struct StudyOptions {
  Options base;  // what all simulations share
  std::vector<std::string> workloads;
  // Rows of configurations(); "NAME:SIZE" has a page cache of SIZE.
  std::vector<std::string> configurations;
  std::vector<uint64_t> nvram_bytes;
  uint32_t rounds = 1;  // seeds: base.seed and those that follow it
  uint32_t jobs = 1;    // simulations at a time
};

struct Run {
  std::string configuration;  // as given: "memory-mode:80GiB"
  Options options;
  Result result;
};

// The runs of a study, without results, in order: workload, NVRAM, configuration, seed. A run that
// needs no NVRAM is there once, with the first size of it. A page cache that the memory cannot hold
// beside one larger size of NVRAM that can is left out. INVALID_ARGUMENT as simulate().
[[nodiscard]] StatusOr<std::vector<Run>> plan(const StudyOptions& options);

// Fills in the results. `on_progress` is called in this thread, with the share of the work that is
// done; an error of it ends all runs.
[[nodiscard]] Status carry_out(std::vector<Run>& runs, uint32_t jobs,
                               const OnProgress& on_progress);

}  // namespace nvcache::simulate
