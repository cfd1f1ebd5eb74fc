#include "apps/nvcached/service/status_report.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/nvcached/service/metrics_table.h"
#include "base/json_text.h"

namespace nvcache::server {
namespace {

constexpr size_t kShownPrefixes = 20;
constexpr int kOneLine = -1;

// Without the zeros behind the last count.
void append_latencies(const LatencyTable& table, JsonText* json) {
  json->begin_object();
  for (size_t i = 0; i < kTimed; ++i) {
    const auto& counts = table[i].counts;
    const auto end =
        std::find_if(counts.rbegin(), counts.rend(), [](uint64_t n) { return n != 0; });
    json->name(kTimedNames[i]);
    json->begin_object();
    json->name("counts");
    json->begin_array();
    std::for_each(counts.begin(), end.base(), [&](uint64_t count) { json->value(count); });
    json->end_array();
    json->member("sum_ns", table[i].sum_ns);
    json->end_object();
  }
  json->end_object();
}

void append_value(const MetricValue& value, JsonText* json) {
  std::visit(
      [&](const auto& is) {
        if constexpr (std::is_same_v<std::decay_t<decltype(is)>, LatencyTable>) {
          append_latencies(is, json);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(is)>, std::string>) {
          json->value(std::string_view(is));
        } else {
          json->value(is);
        }
      },
      value);
}

void append_rows(const MetricSnapshot& snapshot, JsonText* json) {
  json->name("rows");
  json->begin_array();
  for (const MetricRow& row : metric_rows()) {
    json->begin_object();
    if (row.stat != nullptr) json->member("stat", row.stat);
    if (row.metric != nullptr) {
      json->member("metric", row.metric);
      json->member("kind", metric_kind_name(row.kind));
    }
    json->member("help", row.help);
    json->name("value");
    append_value(row.value(snapshot), json);
    json->end_object();
  }
  json->end_array();
}

void append_prefixes(const Service& service, JsonText* json) {
  const PrefixTotals totals = service.prefix_samples();
  std::vector<std::pair<std::string_view, PrefixCounts>> top(totals.prefixes.begin(),
                                                             totals.prefixes.end());
  std::ranges::stable_sort(top, std::ranges::greater{},
                           [](const auto& each) { return each.second.samples; });
  if (top.size() > kShownPrefixes) top.resize(kShownPrefixes);
  json->name("prefixes");
  json->begin_object();
  json->member("delimiter", std::string_view(&service.settings().prefix_delimiter, 1));
  json->member("samples", totals.samples);
  json->member("without_prefix", totals.without_prefix);
  json->name("top");
  json->begin_array();
  for (const auto& [prefix, counts] : top) {
    json->begin_object();
    json->member("prefix", prefix);
    json->member("samples", counts.samples);
    json->member("error", counts.error);
    json->member("hits", counts.hits);
    json->member("misses", counts.misses);
    json->member("sets", counts.sets);
    json->member("deletes", counts.deletes);
    json->end_object();
  }
  json->end_array();
  json->end_object();
}

}  // namespace

std::string status_json(Service& service, uint64_t now_ms) {
  const MetricSnapshot snapshot(service, service.totals_since_start());
  JsonText json(kOneLine);
  json.begin_object();
  json.member("state", "serving");
  json.member("at_ms", now_ms);
  json.member("sampled_one_of", Counters::kSampledOneOf);
  json.name("latency_bounds_ns");
  json.begin_array();
  for (const uint64_t bound : kLatencyBoundsNs) json.value(bound);
  json.end_array();
  append_rows(snapshot, &json);
  append_prefixes(service, &json);
  json.end_object();
  return json.take();
}

std::string start_json(const StartProgress& progress, uint64_t seconds) {
  JsonText json(kOneLine);
  json.begin_object();
  json.member("state", "starting");
  json.member("doing", std::string_view(progress.doing));
  json.member("unit", std::string_view(progress.unit));
  json.member("done", progress.done);
  json.member("all", progress.all);
  json.member("seconds", seconds);
  json.end_object();
  return json.take();
}

void StatusHistory::look(Service& service, uint64_t now_ms) {
  if (now_ms < next_ms_) return;
  const MetricSnapshot snapshot(service, service.totals_since_start());
  JsonText json(kOneLine);
  json.begin_object();
  json.member("at_ms", now_ms);
  for (const MetricRow& row : metric_rows()) {
    if (!row.charted) continue;
    json.name(row.metric);
    append_value(row.value(snapshot), &json);
  }
  json.end_object();
  points_.push_back(json.take());
  if (points_.size() > kMostPoints) points_.pop_front();
  next_ms_ = now_ms + kBetweenMs;
}

std::string StatusHistory::to_json() const {
  std::string text = fmt::format("{{\"between_ms\":{},\"points\":[", kBetweenMs);
  for (size_t i = 0; i < points_.size(); ++i) {
    if (i != 0) text += ',';
    text += points_[i];
  }
  text += "]}";
  return text;
}

}  // namespace nvcache::server
