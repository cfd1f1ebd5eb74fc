// The parts of figures: cells, rows and the runs they come from. Stateless.
#pragma once

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

json make_figure(const char* id, const std::string& title, const char* unit, int digits,
                 bool chart);
void add_row(json& figure, const std::string& label, json cells);

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
Value file_value(const char* field, double factor);

}  // namespace nvcache::figures
