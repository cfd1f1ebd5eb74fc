// Runs what was asked for and makes one JSON document of it: kind "paper", schema 1,
// format "nvcache.paper/1".
//
//   setup{}                    what was asked for, the scale, the medium, notes
//   configurations[]           name, what, spec, emulated
//   databases[]                workload, variant, bytes
//   runs[]                     wtperf's, see wtperf_runs.h
//   ycsb_engine{}, ycsb_runs[] see ycsb_runs.h
//   figures[]                  see figures.h
#pragma once

#include <string>

#include "base/clock.h"
#include "experiments/writes_hurt/writes_hurt_options.h"
#include "nlohmann/json_fwd.hpp"
#include "nvcache/status_or.h"

namespace nvcache::writes_hurt {

[[nodiscard]] StatusOr<nlohmann::json> run_writes_hurt(const Options& options, const Clock& clock);

// Runs and how long they take, as a line of text.
std::string estimate(const Options& options);

}  // namespace nvcache::writes_hurt
