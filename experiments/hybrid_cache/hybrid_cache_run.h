// Runs what was asked for and makes one JSON document of it, laid out as that of `bench
// writes-hurt` is (experiments/writes_hurt/writes_hurt_run.h), so that reports show it: kind
// "paper", schema 1, format "nvcache.hybrid/1".
//
//   setup{}           what was asked for, the scale, media, notes
//   configurations[]  name ("32-256 dram_first"), what, spec, medium, emulated
//   workloads[]       the profiles' parameters
//   databases[]       workload, keys, bytes, load_seconds
//   runs[]            as profile_run.h has them: `configuration` is the policy, and
//                     "variant" the server; or "error" instead of what follows "round"
//   paper[]           what *Hybrid Cache* says: id, where, value, what
//   figures[]         see experiments/writes_hurt/writes_hurt_figures.h
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "experiments/hybrid_cache/servers.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::hybrid_cache {

struct Experiment {
  const WorkloadProfile* workload = nullptr;
  const Server* server = nullptr;
  const Policy* policy = nullptr;
};

// What the figures and tables need, by workload; nothing twice. An SCM-only cache of
// 64-128 is that of 32-128.
std::vector<Experiment> plan_experiments(const Options& options);

// Runs and how long they take, as a line of text.
std::string estimate(const Options& options);

// CANCELLED when interrupted. A run that fails is reported in "runs", and the next goes on.
[[nodiscard]] StatusOr<nlohmann::json> run_hybrid_cache(const Options& options, const Clock& clock);

}  // namespace nvcache::hybrid_cache
