// The in-house workloads: loads each database once, then runs wtperf on copies of it
// with each cache in turn, round by round, each second round in reverse order.
//
// A run is {"workload", "variant", "configuration", "round", "seconds", "ops": {type:
// per second}, "metrics": {"reads_per_second", "tier_hit_ratio"}, "series", "checkpoints", "scans",
// "database_bytes", "cache", "files"}, the last two as the extension wrote them (null without it;
// they count from the start of the warm-up to the close), or has "error" instead of what follows
// "round".
#pragma once

#include "apps/command/progress.h"
#include "base/clock.h"
#include "experiments/writes_hurt/configurations.h"
#include "experiments/writes_hurt/writes_hurt_run.h"
#include "experiments/writes_hurt/wtperf.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::writes_hurt {

// One workload and all that it is run with.
struct WtperfExperiment {
  const Workload* workload = nullptr;
  Variant variant = Variant::kSmall;
  std::vector<CacheChoice> choices;
};

// The experiments that the figures and tables need.
std::vector<WtperfExperiment> plan_wtperf(const Options& options, const std::string& nvram_path);

struct WtperfRuns {
  nlohmann::json runs = nlohmann::json::array();
  nlohmann::json databases = nlohmann::json::array();  // {"workload", "variant", "bytes", ...}
};

// CANCELLED when interrupted. A run that fails is reported in `runs`, and the next goes on.
[[nodiscard]] StatusOr<WtperfRuns> run_wtperf(const Options& options,
                                              const std::vector<WtperfExperiment>& experiments,
                                              const Tools& tools, Databases& databases,
                                              const Clock& clock, Progress& progress);

// True if this WiredTiger has its NVRAM block cache.
[[nodiscard]] bool has_wiredtiger_nvram(const Tools& tools, Databases& databases,
                                        const Clock& clock, Progress& progress);

}  // namespace nvcache::writes_hurt
