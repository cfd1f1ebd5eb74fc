// The parts of figures: cells, rows and the runs they come from. Stateless.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

namespace nvcache::figures {

using nlohmann::json;

// A value of one run, if it has it.
using Value = std::function<std::optional<double>(const json& run)>;

// {"median", "min", "max"}; null without values. `paper` may be empty.
json spread_cell(std::vector<double> values, std::string_view paper = {});
json paper_cell(std::string_view paper);

json make_figure(std::string_view id, const std::string& title, const char* unit, int digits,
                 bool chart);
json row(std::string_view label, json cells);
void add_row(json& figure, std::string_view label, json cells);

// The cells that `make` gives for each of `items`.
template <typename Items, typename Make>
json cells_of(const Items& items, Make make) {
  json cells = json::array();
  for (const auto& item : items) cells.push_back(make(item));
  return cells;
}

// The rows that `make` gives for each of `items`; null is none.
template <typename Items, typename Make>
json rows_of(const Items& items, Make make) {
  json rows = cells_of(items, make);
  rows.erase(std::remove(rows.begin(), rows.end(), json()), rows.end());
  return rows;
}

// The runs of one workload, variant and configuration; failed ones left out.
std::vector<const json*> runs_of(const json& runs, std::string_view workload,
                                 std::string_view variant, std::string_view configuration);
// Those names, in order of appearance, that runs of the variant have in `field`.
std::vector<std::string> names_of(const json& runs, std::string_view variant, const char* field);

std::vector<double> values_of(const std::vector<const json*>& runs, const Value& value);
// value(run) / value(the run of `base` in the same round).
std::vector<double> ratios_of(const std::vector<const json*>& runs,
                              const std::vector<const json*>& base, const Value& value);

Value op_value(const std::string& type);                  // operations per second
std::optional<double> hit_percent(const json& run);       // of all lookups of the cache
std::optional<double> removed_percent(const json& run);   // removals / inserts
std::optional<double> outdated_percent(const json& run);  // erases / inserts
Value file_value(const std::string& field, double factor);
Value metric_value(const std::string& name, double factor = 1);

}  // namespace nvcache::figures
