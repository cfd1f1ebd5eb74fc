// The statistics of block caches in the texts of what holds them: of a tiered cache, whose
// lower tiers are block caches. Stateless.
#pragma once

#include <span>

#include "base/metrics.h"
#include "nlohmann/json.hpp"
#include "nvcache/stats.h"

namespace nvcache {

// What Stats::to_json() writes, as a value.
nlohmann::ordered_json stats_json(const Stats& stats);

// What Stats::to_prometheus() writes, for several caches told apart by their labels.
void append_stats(std::span<const Labeled<Stats>> all, PrometheusText* out);

}  // namespace nvcache
