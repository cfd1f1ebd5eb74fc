// Production-like workloads after section 5.5 of *Hybrid Cache* (ATC '21):
// several databases on one host, a get/put/seek mix, power-law locality, Pareto-
// distributed value sizes, a load that follows a sine. Each is a text file
// (experiments/run/profiles/*.profile) with a line `key = value` for each parameter; '#'
// starts a comment. Sizes are those of the production host and are scaled down where they are used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nvcache/status_or.h"

namespace nvcache {

struct WorkloadProfile {
  std::string name;
  std::string about;  // in a few words

  // The host.
  uint32_t databases = 0;          // production shards: databases that share a cache
  uint64_t keys_per_database = 0;  // before scaling
  uint32_t threads = 0;            // clients

  // Pairs. Values: least + (scale / shape) * ((1 - u)^-shape - 1), cut off at `most`:
  // the generalized Pareto distribution.
  uint32_t key_bytes = 0;
  uint32_t value_least_bytes = 0;
  double value_scale_bytes = 0;
  double value_shape = 0;
  uint32_t value_most_bytes = 0;

  // Locality.
  double hot_share = 0;       // this share of the accessed pairs ...
  double hot_accesses = 0;    // ... gets this share of the accesses
  double accessed_share = 0;  // pairs that are accessed at all
  uint64_t run_keys = 0;      // neighbours in key order that are equally hot
  double repeat_share = 0;    // share of the accesses that go to a pair which the same
  uint32_t repeat_last = 0;   // client accessed recently: of its last ones, how many

  // Operations: shares that sum to 1.
  double get = 0;
  double put = 0;
  double seek = 0;
  uint32_t seek_rows = 0;  // that a seek goes on to read

  // Load in operations per second: mean + swing * sin(2 pi t / period).
  double qps_mean = 0;
  double qps_swing = 0;
  double qps_period_seconds = 0;

  double mean_value_bytes() const;  // ignores the cut at `most`
  // Keys and values of all databases before scaling, in bytes.
  double data_bytes() const;
};

// All parameters must be there, once. INVALID_ARGUMENT says which line and key, what was
// given and what is allowed.
[[nodiscard]] StatusOr<WorkloadProfile> parse_workload_profile(std::string_view text);

// Operations due in the first `seconds` of a load that follows the profile's sine.
double operations_due(const WorkloadProfile& profile, double seconds);

}  // namespace nvcache
