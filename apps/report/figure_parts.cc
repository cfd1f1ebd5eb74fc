#include "apps/report/figure_parts.h"

#include <algorithm>

namespace nvcache::figures {
namespace {

std::optional<double> number(const json& run, const char* part, const std::string& field) {
  const auto found = run.find(part);
  if (found == run.end() || !found->is_object()) return std::nullopt;
  const auto value = found->find(field);
  if (value == found->end() || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

Value scaled(const char* part, const std::string& field, double factor) {
  return [part, field, factor](const json& run) -> std::optional<double> {
    const auto value = number(run, part, field);
    if (!value) return std::nullopt;
    return *value * factor;
  };
}

std::optional<double> percent(std::optional<double> part, std::optional<double> whole) {
  if (!part || !whole || *whole == 0) return std::nullopt;
  return 100 * *part / *whole;
}

}  // namespace

json spread_cell(std::vector<double> values, std::string_view paper) {
  if (values.empty()) return paper.empty() ? json() : paper_cell(paper);
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  json cell = {{"median", n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2},
               {"min", values.front()},
               {"max", values.back()}};
  if (!paper.empty()) cell["paper"] = paper;
  return cell;
}

json paper_cell(std::string_view paper) { return {{"paper", paper}}; }

json make_figure(std::string_view id, const std::string& title, const char* unit, int digits,
                 bool chart) {
  return {{"id", id},
          {"title", title},
          {"unit", unit},
          {"digits", digits},
          {"chart", chart},
          {"columns", json::array()},
          {"rows", json::array()},
          {"notes", json::array()}};
}

json row(std::string_view label, json cells) {
  return {{"label", label}, {"cells", std::move(cells)}};
}

void add_row(json& figure, std::string_view label, json cells) {
  figure["rows"].push_back(row(label, std::move(cells)));
}

std::vector<const json*> runs_of(const json& runs, std::string_view workload,
                                 std::string_view variant, std::string_view configuration) {
  std::vector<const json*> found;
  for (const json& run : runs) {
    if (run.contains("error") || run.at("workload") != workload || run.at("variant") != variant ||
        run.at("configuration") != configuration) {
      continue;
    }
    found.push_back(&run);
  }
  return found;
}

std::vector<std::string> names_of(const json& runs, std::string_view variant, const char* field) {
  std::vector<std::string> names;
  for (const json& run : runs) {
    if (run.at("variant") != variant) continue;
    auto name = run.at(field).get<std::string>();
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

std::vector<double> values_of(const std::vector<const json*>& runs, const Value& value) {
  std::vector<double> values;
  for (const json* run : runs) {
    if (const auto found = value(*run)) values.push_back(*found);
  }
  return values;
}

std::vector<double> ratios_of(const std::vector<const json*>& runs,
                              const std::vector<const json*>& base, const Value& value) {
  std::vector<double> ratios;
  for (const json* run : runs) {
    const auto other = std::find_if(base.begin(), base.end(), [&](const json* candidate) {
      return candidate->at("round") == run->at("round");
    });
    if (other == base.end()) continue;
    const auto mine = value(*run);
    const auto whole = value(**other);
    if (mine && whole && *whole > 0) ratios.push_back(*mine / *whole);
  }
  return ratios;
}

Value op_value(const std::string& type) {
  return [type](const json& run) { return number(run, "ops", type); };
}

std::optional<double> hit_percent(const json& run) {
  const auto hits = number(run, "cache", "hits");
  const auto misses = number(run, "cache", "misses");
  if (!hits || !misses) return std::nullopt;
  return percent(hits, *hits + *misses);
}

std::optional<double> removed_percent(const json& run) {
  return percent(number(run, "cache", "removals"), number(run, "cache", "inserts"));
}

std::optional<double> outdated_percent(const json& run) {
  return percent(number(run, "cache", "erases"), number(run, "cache", "inserts"));
}

Value file_value(const std::string& field, double factor) { return scaled("files", field, factor); }

Value metric_value(const std::string& name, double factor) {
  return scaled("metrics", name, factor);
}

}  // namespace nvcache::figures
