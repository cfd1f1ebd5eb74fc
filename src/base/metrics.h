// One table for the metrics of a statistics struct, and its two forms: JSON and Prometheus text.
//
// A struct's table has a row for each metric: name, help, counter or gauge, and where its
// value is. The unit is the end of the name, as Prometheus asks: _bytes, _seconds, _ratio;
// others count things. The name is the same in C++ and in JSON. In Prometheus text it has a
// prefix, and counters end in _total.
//
// A row of a total also names the counter that holds it, so that a snapshot is read by the table,
// too. A new metric is then a member, a row and, if threads count it, an enumerator.
//
// Stateless functions on the caller's data; they cost one pass over the table. For
// statistics, not for hot paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/json_text.h"
#include "base/striped_counters.h"
#include "fmt/format.h"

namespace nvcache {

// A histogram's value is no number: its table's owner writes its samples.
enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

constexpr std::string_view metric_kind_name(MetricKind kind) {
  return kind == MetricKind::kCounter ? "counter"
         : kind == MetricKind::kGauge ? "gauge"
                                      : "histogram";
}

// For tables that no counters fill.
enum class NoCounter : size_t { kFieldCount };

template <typename S, typename Counter = NoCounter>
struct Metric {
  std::string_view name;
  std::string_view help;
  MetricKind kind;
  std::variant<uint64_t S::*, uint32_t S::*, double S::*, bool S::*, uint64_t (*)(const S&),
               double (*)(const S&)>
      value;
  // That read_counters() reads into `value`, which is a member of 64 bits then.
  std::optional<Counter> counter = std::nullopt;
};

// Calls visit(value) with the value of one metric, in its own type.
template <typename S, typename Counter, typename Visit>
void visit_metric(const Metric<S, Counter>& metric, const S& stats, Visit visit) {
  std::visit([&](auto where) { visit(std::invoke(where, stats)); }, metric.value);
}

// Appends the metrics to a JSON object, in the table's order.
template <typename S, typename Table>
void append_json(const Table& table, const S& stats, JsonText* json) {
  for (const auto& metric : table) {
    visit_metric(metric, stats, [&](auto value) { json->member(metric.name, value); });
  }
}

// Adds the totals of `from` to those of `sum`; with `gauges`, the gauges, too. Whole numbers alone:
// ratios have no sum.
template <typename S, typename Table>
void add_metrics(const Table& table, const S& from, bool gauges, S* sum) {
  for (const auto& metric : table) {
    if (metric.kind == MetricKind::kGauge && !gauges) continue;
    const auto* const member = std::get_if<uint64_t S::*>(&metric.value);
    if (member != nullptr) sum->** member += from.**member;
  }
}

// Sets the members of all rows that have a counter, and leaves the others alone. Reads from the
// last row to the first: threads count on, and a part, whose row comes behind that of its
// whole, is never more than the whole.
template <typename Table, typename S, typename Counter>
void read_counters(const Table& table, const StripedCounters<Counter>& counters, S* stats) {
  for (auto metric = std::rbegin(table); metric != std::rend(table); ++metric) {
    const auto& counter = metric->counter;
    if (!counter) continue;
    stats->*std::get<uint64_t S::*>(metric->value) = counters.sum(*counter);
  }
}

// Whether each counter has one row in these tables, of a total with 64 bits, and those of `without`
// have none.
template <typename Counter, typename... Tables>
constexpr bool each_has_a_row(std::initializer_list<Counter> without, const Tables&... tables) {
  for (size_t i = 0; i < static_cast<size_t>(Counter::kFieldCount); ++i) {
    size_t rows = 0;
    const auto count = [&](const auto& table) {
      for (const auto& metric : table) {
        const bool is_total = metric.kind == MetricKind::kCounter && metric.value.index() == 0;
        if (metric.counter == static_cast<Counter>(i)) rows += is_total ? 1 : 2;
      }
    };
    (count(tables), ...);
    for (const Counter other : without) rows += other == static_cast<Counter>(i) ? 1 : 0;
    if (rows != 1) return false;
  }
  return true;
}

// Text between the quotes of a Prometheus label.
inline std::string escape_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out += "\\n";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

// One struct among several of its type, told apart by labels: `tier="1"`, or nothing.
template <typename S>
struct Labeled {
  std::string labels;
  const S* stats = nullptr;
};

// Prometheus text exposition format. A family is a HELP and a TYPE line, followed by a sample
// for each set of labels.
class PrometheusText {
 public:
  // Each name gets the prefix: "nvcache_".
  explicit PrometheusText(std::string_view prefix) : prefix_(prefix) {}

  // `name` without prefix, but with _total.
  void family(std::string_view name, std::string_view help, MetricKind kind) {
    family_ = fmt::format("{}{}", prefix_, name);
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", family_, help, metric_kind_name(kind));
  }

  // A sample of the last family.
  template <typename Value>
  void sample(std::string_view labels, const Value& value) {
    text_ += labels.empty() ? family_ : fmt::format("{}{{{}}}", family_, labels);
    text_ += fmt::format(" {}\n", value);
  }

  // A histogram of the last family. `counts`: of each bound, of what is above the bound before and
  // not above it, and one more of what is above all; `bounds` and `sum` in the metric's unit.
  void histogram(std::string_view labels, std::span<const double> bounds,
                 std::span<const uint64_t> counts, double sum) {
    uint64_t up_to = 0;
    const std::string comma = labels.empty() ? "" : ",";
    for (size_t i = 0; i < counts.size(); ++i) {
      up_to += counts[i];
      const std::string bound = i < bounds.size() ? fmt::format("{}", bounds[i]) : "+Inf";
      text_ += fmt::format("{}_bucket{{{}{}le=\"{}\"}} {}\n", family_, labels, comma, bound, up_to);
    }
    const std::string of = labels.empty() ? "" : fmt::format("{{{}}}", labels);
    text_ += fmt::format("{0}_sum{1} {2}\n{0}_count{1} {3}\n", family_, of, sum, up_to);
  }

  // A family for each metric, with a sample for each of `all`.
  template <typename S, typename Table>
  void append(const Table& table, std::span<const Labeled<S>> all) {
    for (const auto& metric : table) {
      const bool counter = metric.kind == MetricKind::kCounter;
      family(fmt::format("{}{}", metric.name, counter ? "_total" : ""), metric.help, metric.kind);
      for (const Labeled<S>& each : all) {
        visit_metric(metric, *each.stats, [&](auto value) { sample(each.labels, +value); });
      }
    }
  }

  std::string take() { return std::move(text_); }

 private:
  const std::string prefix_;
  std::string family_;
  std::string text_;
};

// Two sets of labels as one; either may be empty.
inline std::string join_labels(std::string_view first, std::string_view second) {
  return fmt::format("{}{}{}", first, first.empty() || second.empty() ? "" : ",", second);
}

}  // namespace nvcache
