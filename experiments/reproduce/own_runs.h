// The small runs that `nvcache bench reproduce` makes itself: some twenty seconds, no files.
#pragma once

#include <string>

#include "base/clock.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache::reproduce {

// Figures 3, 4 and 5 of *NVMcached* in caches of 64 MiB, on emulated:dram: a document as
// `nvcache bench nvmcached --json` writes it. CANCELLED when interrupted. DATA_LOSS where a store
// answered wrongly.
[[nodiscard]] StatusOr<nlohmann::json> run_small_nvmcached(const std::string& command,
                                                           const Clock& clock);

}  // namespace nvcache::reproduce
