// Results as text for a terminal, at most 100 columns wide.
#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "nvcache/status_or.h"

namespace nvcache {

// A "ycsb" document (experiments/run/result.h) as tables: one a workload, then what the
// second tiers did, then what the configurations are. INVALID_ARGUMENT where the
// document is not one.
[[nodiscard]] StatusOr<std::string> ycsb_tables(const nlohmann::json& document);

}  // namespace nvcache
