// Runs what was asked for and makes one JSON document of it, laid out as that of `bench
// writes-hurt` is (experiments/writes_hurt/writes_hurt_run.h), so that reports show it: kind
// "paper", schema 1, format "nvcache.kv/1".
//
//   setup{}           what was asked for, the scale, media, notes
//   configurations[]  the four systems: name, what, spec, medium, emulated
//   traces[]          the parameters
//   runs[]            throughput: workload (a trace, or "100 B, 75% GET"), variant (the medium),
//                     configuration (the system), round, metrics{} (system.h);
//                     or "error" instead of the metrics
//   crashes[]         trace, system, misses before and after, items and bytes lost
//   restart{}         null if not asked for
//   figures[]         see apps/report/figure_parts.h
#pragma once

#include "base/clock.h"
#include "experiments/nvmcached/nvmcached_options.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::nvmcached {

// CANCELLED when interrupted. DATA_LOSS where a store answered wrongly.
[[nodiscard]] StatusOr<nlohmann::json> run_nvmcached(const Options& options, const Clock& clock);

}  // namespace nvcache::nvmcached
