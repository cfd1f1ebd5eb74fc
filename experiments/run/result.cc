#include "experiments/run/result.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using nlohmann::json;

double ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Adds the work of the second tier in the measured part: differences of its totals.
void add_tier_metrics(const Stats& before, const Stats& after, uint64_t ops, json& metrics) {
  const auto lookups = [](const Stats& s) {
    return s.hits + s.misses - s.background_hits - s.background_misses;
  };
  const auto hits = [](const Stats& s) { return s.hits - s.background_hits; };
  const uint64_t asked = lookups(after) - lookups(before);
  const uint64_t inserts = after.inserts - before.inserts;
  const uint64_t removals = after.removals - before.removals;
  const uint64_t written = after.medium_written_bytes - before.medium_written_bytes;
  uint64_t refused = 0;
  for (size_t i = 0; i < kReasonCount; ++i) refused += after.refused[i] - before.refused[i];
  metrics["tier_lookups"] = asked;
  metrics["tier_hit_ratio"] = ratio(hits(after) - hits(before), asked);
  metrics["tier_inserts"] = inserts;
  metrics["tier_removals"] = removals;
  metrics["tier_refused"] = refused;
  metrics["tier_written_bytes"] = written;
  metrics["tier_written_bytes_per_op"] = ratio(written, ops);
  metrics["tier_written_bytes_warmup"] = before.medium_written_bytes;
  metrics["tier_read_bytes"] = after.medium_read_bytes - before.medium_read_bytes;
  metrics["tier_overhead_ratio"] = ratio(inserts + removals, asked);
  metrics["tier_overhead_ratio_at_end"] = after.overhead_ratio;
  metrics["tier_data_bytes_at_end"] = after.data_bytes;
  metrics["tier_damaged_blocks"] = after.damaged_blocks - before.damaged_blocks;
  metrics["tier_medium_errors"] = after.medium_errors - before.medium_errors;
}

void add_storage_metrics(const RunResult& result, json& metrics) {
  const auto us = [&](double q) {
    return static_cast<double>(result.storage.latency_ns.quantile(q)) / 1000;
  };
  metrics["storage_reads_per_op"] = ratio(result.storage.reads, result.ops);
  metrics["storage_read_bytes_per_second"] =
      static_cast<double>(result.storage.bytes) / result.seconds;
  metrics["storage_read_p50_us"] = us(0.50);
  metrics["storage_read_p99_us"] = us(0.99);
}

json metrics_json(const RunResult& result, const json& latency) {
  const double ops = static_cast<double>(result.ops);
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  const auto grown = [&](uint64_t EngineMetrics::*total) {
    return result.after.*total - result.before.*total;
  };
  json metrics = {
      {"ops_per_second", ops / result.seconds},
      {"p50_us", latency["p50_us"]},
      {"p95_us", latency["p95_us"]},
      {"p99_us", latency["p99_us"]},
      {"block_reads_per_op", ratio(result.block_reads, result.ops)},
      {"cpu_us_per_op", result.cpu_seconds * 1e6 / ops},
      {"cpu_ratio", result.cpu_seconds / result.seconds / cores},
      {"other_cpu_ratio",
       std::max(0.0, result.machine_cpu_seconds - result.cpu_seconds) / result.seconds / cores},
      {"background_read_bytes", grown(&EngineMetrics::background_read_bytes)},
      {"background_written_bytes", grown(&EngineMetrics::background_written_bytes)},
      {"stall_seconds", static_cast<double>(grown(&EngineMetrics::stall_us)) * 1e-6},
  };
  const uint64_t hits = grown(&EngineMetrics::data_hits);
  const uint64_t lookups = hits + grown(&EngineMetrics::data_misses);
  if (lookups > 0) metrics["hit_ratio"] = ratio(hits, lookups);
  if (result.storage.reads > 0) add_storage_metrics(result, metrics);
  if (result.before.tier && result.after.tier) {
    add_tier_metrics(*result.before.tier, *result.after.tier, result.ops, metrics);
  }
  return metrics;
}

json refused_json(const RunResult& result) {
  json refused = json::object();
  if (!result.before.tier || !result.after.tier) return refused;
  for (size_t i = 0; i < kReasonCount; ++i) {
    const uint64_t count = result.after.tier->refused[i] - result.before.tier->refused[i];
    if (count > 0) refused[std::string(reason_name(static_cast<Reason>(i)))] = count;
  }
  return refused;
}

json series_json(const std::vector<Sample>& series) {
  json at = json::array(), ops = json::array(), hits = json::array();
  for (const Sample& sample : series) {
    at.push_back(sample.at_seconds);
    ops.push_back(sample.ops_per_second);
    hits.push_back(sample.tier_hit_ratio < 0 ? json() : json(sample.tier_hit_ratio));
  }
  return {{"at_seconds", at}, {"ops_per_second", ops}, {"tier_hit_ratio", hits}};
}

json spread_json(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  return {{"median", median}, {"min", values.front()}, {"max", values.back()}};
}

// The distinct values of runs[][field], in order of appearance.
std::vector<std::string> names_in(const json& runs, const char* field) {
  std::vector<std::string> names;
  for (const json& run : runs) {
    const auto name = run.at(field).get<std::string>();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

const json* find_run(const json& runs, const std::string& workload,
                     const std::string& configuration, const json& round) {
  for (const json& run : runs) {
    if (run["workload"] == workload && run["configuration"] == configuration &&
        run["round"] == round) {
      return &run;
    }
  }
  return nullptr;
}

json summarize_pair(const json& runs, const std::string& workload, const std::string& configuration,
                    const std::string& first) {
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, std::vector<double>> ratios;
  json summary = {{"workload", workload}, {"configuration", configuration}};
  for (const json& run : runs) {
    if (run["workload"] != workload || run["configuration"] != configuration) continue;
    const json* reference = find_run(runs, workload, first, run["round"]);
    for (const auto& [name, value] : run["metrics"].items()) {
      if (!value.is_number()) continue;
      values[name].push_back(value.get<double>());
      if (reference == nullptr || !reference->at("metrics").contains(name)) continue;
      const double base = reference->at("metrics")[name].get<double>();
      if (base > 0) ratios[name].push_back(value.get<double>() / base);
    }
  }
  summary["rounds"] = values["ops_per_second"].size();
  summary["metrics"] = json::object();
  summary["ratio_to_first"] = json::object();
  for (auto& [name, list] : values) {
    if (!list.empty()) summary["metrics"][name] = spread_json(std::move(list));
  }
  for (auto& [name, list] : ratios) summary["ratio_to_first"][name] = spread_json(std::move(list));
  return summary;
}

}  // namespace

json latency_json(const Histogram& histogram) {
  const auto us = [&](double q) { return static_cast<double>(histogram.quantile(q)) / 1000; };
  return {{"count", histogram.count()}, {"mean_us", histogram.mean() / 1000},
          {"p50_us", us(0.50)},         {"p95_us", us(0.95)},
          {"p99_us", us(0.99)},         {"max_us", static_cast<double>(histogram.max()) / 1000}};
}

json run_to_json(const Load& load, const std::string& configuration, uint32_t round,
                 const RunResult& result) {
  Histogram all;
  json latency = json::object();
  json operations = json::object();
  for (size_t i = 0; i < result.latency_ns.size(); ++i) {
    if (result.latency_ns[i].count() == 0) continue;
    const std::string name(load.operations()[i]);
    all.merge(result.latency_ns[i]);
    latency[name] = latency_json(result.latency_ns[i]);
    operations[name] = result.latency_ns[i].count();
  }
  latency["all"] = latency_json(all);
  const auto reported = load.reported_operation();
  const json percentiles = reported ? latency_json(result.latency_ns[*reported]) : latency["all"];
  json run = {{"workload", load.name()},
              {"configuration", configuration},
              {"round", round},
              {"warmup_seconds", result.warmup_seconds},
              {"seconds", result.seconds},
              {"ops", result.ops},
              {"operations", operations},
              {"rows_scanned", result.rows_scanned},
              {"values_verified", result.values_verified},
              {"metrics", metrics_json(result, percentiles)},
              {"latency", latency},
              {"refused", refused_json(result)},
              {"series", series_json(result.series)},
              {"tiers", result.after.tiers}};
  if (result.after.tier) {
    run["medium"] = result.after.tier->medium;
    run["admission"] = result.after.tier->admission;
    run["eviction"] = result.after.tier->eviction;
  }
  return run;
}

json summarize(const json& runs) {
  json summary = json::array();
  if (runs.empty()) return summary;
  const auto configurations = names_in(runs, "configuration");
  for (const std::string& workload : names_in(runs, "workload")) {
    for (const std::string& configuration : configurations) {
      summary.push_back(summarize_pair(runs, workload, configuration, configurations.front()));
    }
  }
  return summary;
}

}  // namespace nvcache
