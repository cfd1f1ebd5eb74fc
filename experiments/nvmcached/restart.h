// From the death of a process to the first GET that is served: a child process fills a
// store on a file and is killed; this process opens the file.
#pragma once

#include <cstdint>
#include <string>

#include "apps/command/progress.h"
#include "nvcache/status_or.h"

namespace nvcache::nvmcached {

struct RestartPlan {
  uint64_t items = 10'000'000;
  uint32_t value_bytes = 32;
  std::string folder;  // a file is made in it, and removed
  uint64_t checks = 100'000;
  uint64_t seed = 1;
};

struct RestartResult {
  double build_seconds = 0;
  double open_seconds = 0;       // the call that opens the store
  double first_get_seconds = 0;  // from before it until a value was read
  uint64_t file_bytes = 0;
  uint64_t recovered_items = 0;
  uint64_t checked = 0;  // keys that were asked for, at random
  uint64_t found = 0;
  uint64_t wrong = 0;  // of the values found
};

// CANCELLED if interrupted. Removes the file in any case.
[[nodiscard]] StatusOr<RestartResult> run_restart(const RestartPlan& plan, const Clock& clock,
                                                  Progress& progress);

}  // namespace nvcache::nvmcached
