// What `nvcache replay` found, as tables for a terminal (at most 100 columns) and as JSON.
#pragma once

#include <string>
#include <vector>

#include "apps/nvcache/replay_trace.h"
#include "nlohmann/json_fwd.hpp"

namespace nvcache {

std::string replay_text(const ReplayTable& table, const ReplayPlan& plan);
// The means over all traces: the mean of the ratios, the sum of the bytes.
std::string replay_means_text(const std::vector<ReplayTable>& tables, const ReplayPlan& plan);

// A document of the kind "replay", schema 1, that `nvcache report` draws.
nlohmann::json replay_json(const std::vector<ReplayTable>& tables, const ReplayPlan& plan);

}  // namespace nvcache
