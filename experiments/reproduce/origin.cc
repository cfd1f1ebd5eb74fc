#include "experiments/reproduce/origin.h"

#include <algorithm>
#include <numeric>

namespace nvcache::reproduce {
namespace {

using figures::runs_of;
using nlohmann::json;

std::optional<double> metric_of(const json& run, const char* name) {
  const json& metrics = run.at("metrics");
  if (!metrics.contains(name) || !metrics[name].is_number()) return std::nullopt;
  return metrics[name].get<double>();
}

}  // namespace

bool Origin::simulated() const {
  return format_ == kSimulationsFormat || format_ == kHybridSimulationFormat;
}

std::optional<double> Origin::value(std::string_view workload, const Setup& setup,
                                    const char* metric) const {
  return median(collect(evidence_, format_, [&](const json& document) {
    std::vector<double> values;
    for (const json* run :
         runs_of(document.at("runs"), workload, setup.variant, setup.configuration)) {
      if (const auto found = metric_of(*run, metric)) values.push_back(*found);
    }
    return values;
  }));
}

template <typename Combine>
std::optional<double> Origin::pairs(std::string_view workload, const Setup& one, const Setup& other,
                                    const char* metric, Combine combine) const {
  return median(collect(evidence_, format_, [&](const json& document) {
    std::vector<double> values;
    const json& runs = document.at("runs");
    for (const json* run : runs_of(runs, workload, one.variant, one.configuration)) {
      for (const json* base : runs_of(runs, workload, other.variant, other.configuration)) {
        if (run->at("round") != base->at("round")) continue;
        const auto mine = metric_of(*run, metric), theirs = metric_of(*base, metric);
        if (!mine || !theirs) continue;
        if (const std::optional<double> both = combine(*mine, *theirs)) values.push_back(*both);
      }
    }
    return values;
  }));
}

std::optional<double> Origin::ratio(std::string_view workload, const Setup& one, const Setup& other,
                                    const char* metric) const {
  return pairs(workload, one, other, metric, [](double mine, double theirs) {
    return theirs > 0 ? std::optional<double>(mine / theirs) : std::nullopt;
  });
}

std::optional<double> Origin::difference(std::string_view workload, const Setup& one,
                                         const Setup& other, const char* metric) const {
  return pairs(workload, one, other, metric,
               [](double mine, double theirs) { return std::optional<double>(mine - theirs); });
}

Finding Origin::finding(Ours ours, const std::string& more) const {
  return {simulated() ? Source::kSimulated : Source::kReal, std::move(ours),
          conditions_of(evidence_, format_) + (more.empty() ? "" : "; " + more)};
}

std::optional<Finding> Origin::finding_of(std::optional<double> value, In in,
                                          const std::string& more) const {
  if (!value) return std::nullopt;
  return finding(number(in(*value)), more);
}

std::vector<Finder> of_forms(std::initializer_list<std::string_view> formats, const Find& find) {
  std::vector<Finder> finders;
  for (const std::string_view format : formats) {
    finders.push_back(
        [find, format](const Evidence& evidence) { return find(Origin(evidence, format)); });
  }
  return finders;
}

std::vector<double> present(const std::vector<std::optional<double>>& values) {
  std::vector<double> list;
  for (const auto& value : values) {
    if (value) list.push_back(*value);
  }
  return list;
}

std::optional<Span> span_of(const std::vector<std::optional<double>>& values) {
  const std::vector<double> list = present(values);
  if (list.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(list.begin(), list.end());
  return Span{*least, *most};
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace nvcache::reproduce
