#include <algorithm>
#include <thread>

#include "experiments/hybrid_cache/profile_run.h"
#include "experiments/ycsb/result.h"

namespace nvcache {
namespace {

using nlohmann::json;

json metrics_json(const ProfileResult& result) {
  const double seconds = result.seconds;
  const auto ops = static_cast<double>(result.ops);
  const Histogram& get = result.latency_ns[static_cast<size_t>(ProfileOpType::kGet)];
  const auto us = [](const Histogram& histogram, double q) {
    return static_cast<double>(histogram.quantile(q)) / 1000;
  };
  json metrics = {
      {"ops_per_second", ops / seconds},
      {"p50_us", us(get, 0.50)},
      {"p95_us", us(get, 0.95)},
      {"p99_us", us(get, 0.99)},
      {"storage_reads_per_op", static_cast<double>(result.storage.reads) / ops},
      {"storage_read_bytes_per_second", static_cast<double>(result.storage.bytes) / seconds},
      {"storage_read_p50_us", us(result.storage.latency_ns, 0.50)},
      {"storage_read_p99_us", us(result.storage.latency_ns, 0.99)},
      {"cpu_ratio", result.cpu_seconds / seconds /
                        static_cast<double>(std::max(1u, std::thread::hardware_concurrency()))},
      {"cpu_us_per_op", result.cpu_seconds * 1e6 / ops},
      {"compaction_bytes", result.after.compaction_bytes - result.before.compaction_bytes},
      {"stall_seconds", static_cast<double>(result.after.stall_us - result.before.stall_us) * 1e-6},
  };
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  metrics["other_cpu_ratio"] =
      std::max(0.0, result.machine_cpu_seconds - result.cpu_seconds) / seconds / cores;
  const uint64_t hits = result.after.data_hits - result.before.data_hits;
  const uint64_t misses = result.after.data_misses - result.before.data_misses;
  if (hits + misses > 0) {
    metrics["hit_ratio"] = static_cast<double>(hits) / static_cast<double>(hits + misses);
  }
  return metrics;
}

}  // namespace

json profile_run_to_json(const std::string& workload, const std::string& configuration,
                         uint32_t round, const ProfileResult& result) {
  json latency = json::object();
  json operations = json::object();
  for (size_t i = 0; i < kProfileOpTypes; ++i) {
    if (result.latency_ns[i].count() == 0) continue;
    const std::string name(profile_op_name(static_cast<ProfileOpType>(i)));
    latency[name] = latency_json(result.latency_ns[i]);
    operations[name] = result.latency_ns[i].count();
  }
  return {{"workload", workload},
          {"configuration", configuration},
          {"round", round},
          {"seconds", result.seconds},
          {"ops", result.ops},
          {"operations", operations},
          {"rows_sought", result.rows_sought},
          {"values_verified", result.values_verified},
          {"metrics", metrics_json(result)},
          {"latency", latency},
          {"tiers", result.after.tiers}};
}

}  // namespace nvcache
