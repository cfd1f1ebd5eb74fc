// The JSON of runs on an engine.
//
//   runs[]     one object a run: workload, configuration, round, metrics{}, latency{},
//              operations{}, refused{}, medium, admission, eviction, tiers, series{}
//   summary[]  one object a workload and configuration: metrics{name: {median, min, max}}
//              over the rounds, and ratio_to_first{}: of each round's value to the first
//              configuration's value in the same round
//
// docs/results/benchmarks.md says what each metric means. Metrics of the second tier, of the
// engine's block cache and of storage are left out where nothing counts them.
#pragma once

#include "base/histogram.h"
#include "experiments/run/load.h"
#include "experiments/run/run.h"
#include "nlohmann/json_fwd.hpp"

namespace nvcache {

// {"count", "mean_us", "p50_us", "p95_us", "p99_us", "max_us"} of times in ns.
nlohmann::json latency_json(const Histogram& histogram);

nlohmann::json run_to_json(const Load& load, const std::string& configuration, uint32_t round,
                           const RunResult& result);

// The summary of `runs`; workloads and configurations in the order of their first run.
nlohmann::json summarize(const nlohmann::json& runs);

}  // namespace nvcache
