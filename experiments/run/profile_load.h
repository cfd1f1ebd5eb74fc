// A profile (experiments/workload/profile.h) on several databases, scaled down.
#pragma once

#include "experiments/run/load.h"
#include "experiments/workload/profile.h"

namespace nvcache {

inline constexpr uint64_t kDefaultGbBytes = 2ull << 20;  // a GB of the production host

struct ProfileLoadOptions {
  WorkloadProfile profile;
  uint64_t gb_bytes = kDefaultGbBytes;
  uint64_t seed = 0;  // of the pairs
  bool sine = false;  // operations come at the profile's rate, else as fast as they go
};

std::unique_ptr<Load> make_profile_load(const ProfileLoadOptions& options);

// Keys of each database where a GB of the production host is `gb_bytes`; a run at least.
uint64_t scaled_keys(const WorkloadProfile& profile, uint64_t gb_bytes);

}  // namespace nvcache
