// Results as text for a terminal, at most 100 columns wide.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace nvcache {

// A "ycsb" document (experiments/ycsb/result.h) as tables: one a workload, then what the
// second tiers did, then what the configurations are. INVALID_ARGUMENT where the
// document is not one.
[[nodiscard]] absl::StatusOr<std::string> ycsb_tables(const nlohmann::json& document);

}  // namespace nvcache
