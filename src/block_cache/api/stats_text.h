// The statistics of block caches in the texts of others, a tiered cache, whose lower tiers are
// block caches, and an engine; and their sum. Stateless.
#pragma once

#include <span>
#include <string_view>

#include "base/metrics.h"
#include "nvcache/function_ref.h"
#include "nvcache/stats.h"

namespace nvcache {

// Calls visit(name, value) for each metric that is one number.
void visit_metrics(const Stats& stats,
                   FunctionRef<void(std::string_view name, double value)> visit);

// Writes what Stats::to_json() does, as a value.
void write_json(const Stats& stats, JsonText* json);

// What Stats::to_prometheus() writes, for several caches told apart by their labels.
void append_stats(std::span<const Labeled<Stats>> all, PrometheusText* out);

// Adds the totals, and with `gauges` the gauges, of a cache to those of several. Names and ratios
// of `sum` stay.
void add_stats(const Stats& from, bool gauges, Stats* sum);

}  // namespace nvcache
