// One run of a workload profile: threads issue its operations against an open store,
// first to warm the cache, then measured.
//
//   warm-up -> measured -> stopped;  an error or an interrupt goes to stopped at once
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "apps/command/progress.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "experiments/hybrid_cache/profile_store.h"
#include "experiments/workload/profile.h"
#include "experiments/workload/profile_stream.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct ProfilePlan {
  const WorkloadProfile* profile = nullptr;
  uint64_t keys = 0;        // of each database
  uint64_t store_seed = 0;  // that they were loaded with
  uint64_t seed = 0;        // of the operations
  uint32_t threads = 1;
  bool sine = false;   // operations come at the profile's rate, else as fast as they go
  bool awake = false;  // keep processors from halting: see AwakeProcessors
  double warmup_seconds = 0;
  double seconds = 0;
  std::string title;  // for the progress line
};

// All of the measured part.
struct ProfileResult {
  double seconds = 0;
  uint64_t ops = 0;
  uint64_t rows_sought = 0;
  uint64_t values_verified = 0;
  double cpu_seconds = 0;          // user and system time of the process, AwakeProcessors' apart
  double machine_cpu_seconds = 0;  // of all processes; 0 where it cannot be told
  std::array<Histogram, kProfileOpTypes> latency_ns;
  StoreMetrics before;
  StoreMetrics after;
  StorageReads storage;
};

// Fails if an operation fails, or a value read is not what was written (DATA_LOSS),
// or when interrupted (CANCELLED).
[[nodiscard]] StatusOr<ProfileResult> run_profile(ProfileStore& store, const ProfilePlan& plan,
                                                  const Clock& clock, Progress& progress);

// {"workload", "configuration", "round", "seconds", "ops", "operations", "rows_sought",
// "values_verified", "metrics", "latency", "tiers"}; docs/results/hybrid_cache.md says what the
// metrics mean.
nlohmann::json profile_run_to_json(const std::string& workload, const std::string& configuration,
                                   uint32_t round, const ProfileResult& result);

}  // namespace nvcache
