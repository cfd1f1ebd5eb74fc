#include "experiments/java/java_result.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "apps/report/figure_parts.h"
#include "apps/report/figure_tables.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace nvcache::java {
namespace {

using nlohmann::json;

constexpr std::string_view kMeasured = "measured.";

std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_sent(std::string_view name) {
  return name.starts_with("sent") || name.starts_with("digest") || name.starts_with("entries");
}

// The values of one metric of a case, by pair.
std::map<int, double> values_of(const json& runs, const std::string& name,
                                const char* configuration, const std::string& metric) {
  std::map<int, double> values;
  for (const json& run : runs) {
    if (run.at("case") != name || run.at("configuration") != configuration) continue;
    const json& metrics = run.at("metrics");
    if (metrics.contains(metric)) values[run.at("pair").get<int>()] = metrics[metric].get<double>();
  }
  return values;
}

json spread_of(const std::map<int, double>& values) {
  std::vector<double> list;
  for (const auto& [pair, value] : values) list.push_back(value);
  return figures::spread_cell(std::move(list));
}

json summarize_metric(const json& runs, const std::string& name, const std::string& metric) {
  const auto without = values_of(runs, name, kWithout, metric);
  const auto with = values_of(runs, name, kWith, metric);
  std::map<int, double> ratios;
  for (const auto& [pair, value] : with) {
    const auto base = without.find(pair);
    if (base != without.end() && base->second > 0) ratios[pair] = value / base->second;
  }
  return {{"none", spread_of(without)}, {"nvcache", spread_of(with)}, {"ratio", spread_of(ratios)}};
}

struct Row {
  const char* metric;
  const char* label;
  double factor;
  int digits;
};

constexpr double kMiB = 1.0 / (1 << 20);
constexpr Row kRows[] = {{"events_per_second", "events/s", 1, 0},
                         {"seconds", "seconds", 1, 1},
                         {"read_calls", "read calls", 1, 0},
                         {"read_bytes", "MiB read", kMiB, 1},
                         {"device_read_bytes", "MiB from the device", kMiB, 1},
                         {"lower_hits", "blocks from lower tiers", 1, 0}};

json scaled(json spread, double factor) {
  if (!spread.is_object()) return spread;
  for (const char* part : {"median", "min", "max"}) {
    spread[part] = spread.at(part).get<double>() * factor;
  }
  return spread;
}

void append_case(const json& each, const json& summary, std::string& text) {
  text += fmt::format("\n{}: {} keys of 400 characters; {}\n", each.at("name").get<std::string>(),
                      each.at("keys").get<uint64_t>(), each.at("dram").get<std::string>());
  const auto append_line = [&](std::string_view label, std::string_view without,
                               std::string_view with, std::string_view ratio) {
    text += fmt::format("{:<24}{:>27}{:>27}{:>21}\n", label, without, with, ratio);
  };
  append_line(fmt::format("{} events", each.at("events").get<uint64_t>()), "without",
              "with nvcache", "ratio");
  for (const Row& row : kRows) {
    const json& metric = summary.at("metrics").at(row.metric);
    append_line(row.label, figures::cell_text(scaled(metric.at("none"), row.factor), row.digits),
                figures::cell_text(scaled(metric.at("nvcache"), row.factor), row.digits),
                figures::cell_text(metric.at("ratio"), 3));
  }
}

void append_setup(const json& document, std::string& text) {
  const json& setup = document.at("setup");
  const auto tiered = setup.at("tiered").get<std::string>();
  const int pairs = setup.at("pairs").get<int>();
  text += fmt::format(
      "\nMedian [least..most] of {} pair{} of runs of {}; each run of a case sent the same.\n"
      "NVCACHE_TIERED={}\n",
      pairs, pairs == 1 ? "" : "s", document.at("program").get<std::string>(), tiered);
  if (setup.at("emulated").get<bool>()) {
    text +=
        "The medium of a tier is EMULATED: its latency and bandwidth come from a model\n"
        "(docs/design/model.md), not from such hardware in this machine.\n";
  }
}

}  // namespace

StatusOr<Outcome> parse_outcome(std::string_view printed) {
  std::map<std::string, std::string> sent;
  std::map<std::string, uint64_t, std::less<>> measured;
  bool done = false;
  while (!printed.empty()) {
    const auto [line, rest] = split_once(printed, '\n');
    const auto [name, value] = split_once(line, '=');
    done = done || line == "done";
    if (is_sent(name)) sent[std::string(name)] = value;
    if (name.starts_with(kMeasured)) {
      const auto number = number_in(value);
      if (!number) return internal_error(fmt::format("not a number: {}", line));
      measured[std::string(name.substr(kMeasured.size()))] = *number;
    }
    printed = rest;
  }
  if (!done) return internal_error("it did not get to its end");
  const bool has_digest = std::any_of(sent.begin(), sent.end(), [](const auto& each) {
    return std::string_view(each.first).starts_with("digest");
  });
  if (!has_digest) return internal_error("it printed no digest of what it sent");
  for (const char* name : {"events", "ns", "read_calls", "read_bytes", "device_bytes"}) {
    if (!measured.contains(name)) {
      return internal_error(fmt::format("it did not print {}{}", kMeasured, name));
    }
  }
  if (measured["events"] == 0 || measured["ns"] == 0) {
    return internal_error("it measured no events");
  }
  return Outcome{.sent = std::move(sent),
                 .events = measured["events"],
                 .seconds = static_cast<double>(measured["ns"]) * 1e-9,
                 .read_calls = measured["read_calls"],
                 .read_bytes = measured["read_bytes"],
                 .device_read_bytes = measured["device_bytes"]};
}

Status check_equal(const Outcome& expected, const Outcome& found) {
  std::string differs;
  const auto look = [&](const Outcome& one, const Outcome& other, bool also_equal) {
    for (const auto& [name, value] : one.sent) {
      const auto its = other.sent.find(name);
      if (its != other.sent.end() && (also_equal || its->second == value)) continue;
      differs += fmt::format("{}{} is {}, not {}", differs.empty() ? "" : "; ", name,
                             its == other.sent.end() ? "not there" : its->second, value);
    }
  };
  look(expected, found, /*also_equal=*/false);
  look(found, expected, /*also_equal=*/true);
  if (differs.empty()) return ok_status();
  return data_loss_error(differs);
}

StatusOr<uint64_t> parse_lower_hits(const std::string& statistics) {
  const json stats = json::parse(statistics, nullptr, /*allow_exceptions=*/false);
  try {
    const json& tiers = stats.at("tiers");
    uint64_t hits = 0;
    for (size_t i = 1; i < tiers.size(); ++i) hits += tiers.at(i).at("hits").get<uint64_t>();
    return hits;
  } catch (const json::exception& error) {
    return internal_error(fmt::format("not statistics of nvcache: {}", error.what()));
  }
}

json metrics_json(const Outcome& outcome) {
  return {{"events_per_second", static_cast<double>(outcome.events) / outcome.seconds},
          {"seconds", outcome.seconds},
          {"read_calls", outcome.read_calls},
          {"read_bytes", outcome.read_bytes},
          {"device_read_bytes", outcome.device_read_bytes}};
}

json summarize(const json& runs) {
  std::vector<std::string> names;
  for (const json& run : runs) {
    const auto name = run.at("case").get<std::string>();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  json summary = json::array();
  for (const std::string& name : names) {
    json metrics = json::object();
    for (const Row& row : kRows) metrics[row.metric] = summarize_metric(runs, name, row.metric);
    summary.push_back({{"case", name}, {"metrics", metrics}});
  }
  return summary;
}

StatusOr<std::string> java_tables(const json& document) {
  try {
    std::string text;
    const json& cases = document.at("setup").at("cases");
    for (size_t i = 0; i < cases.size(); ++i) {
      append_case(cases.at(i), document.at("summary").at(i), text);
    }
    append_setup(document, text);
    return text;
  } catch (const json::exception& error) {
    return invalid_argument("not a result of nvcache: {}", error.what());
  }
}

}  // namespace nvcache::java
