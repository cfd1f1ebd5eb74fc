#include "experiments/reproduce/hybrid_simulations.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "experiments/hybrid_cache/servers.h"
#include "experiments/reproduce/evidence.h"
#include "experiments/reproduce/simulation_document.h"
#include "experiments/simulate/study.h"

namespace nvcache::reproduce {
namespace {

using nlohmann::json;

struct HybridScenario {
  std::string workload;
  std::string server;
  std::string_view policy;         // as runs of `nvcache bench hybrid-cache` call it
  std::string_view configuration;  // of the simulator, on that server
};

std::vector<HybridScenario> planned(bool memory_mode_only) {
  std::vector<HybridScenario> plan;
  for (const char* workload : {"whatsapp", "tectonic", "laser"}) {
    const bool first = plan.empty();
    if (!first && memory_mode_only) break;
    const auto add = [&](std::string_view server, std::string_view policy,
                         std::string_view configuration) {
      plan.push_back({workload, std::string(server), policy, configuration});
    };
    if (!memory_mode_only) {
      add(hybrid_cache::kTwoSockets, hybrid_cache::kDramOnly, "dram-only");
      add(hybrid_cache::kBase, hybrid_cache::kDramOnly, "dram-only");
      add(hybrid_cache::kBase, hybrid_cache::kScmOnly, "naive-scm");
    }
    for (const char* server : {"32-256", "32-128", "64-128"}) {
      if (!first && std::string_view(server) != "32-256") continue;
      add(server, hybrid_cache::kDramFirst, "dram-first");
      if (!first) continue;
      add(server, kMemoryModePolicy, "memory-mode");
      if (!memory_mode_only) add(server, hybrid_cache::kScmOnly, "naive-scm");
    }
  }
  return plan;
}

StatusOr<std::vector<simulate::Run>> runs_of(const std::vector<HybridScenario>& scenarios,
                                             const HybridSimulationPlan& plan) {
  std::vector<simulate::Run> runs;
  for (const HybridScenario& scenario : scenarios) {
    simulate::Options options;
    options.engine = "rocksdb";
    options.workload = scenario.workload;
    options.configuration = fmt::format("{}/{}", scenario.server, scenario.configuration);
    options.minutes = plan.minutes;
    options.seed = plan.seed;
    options.scale = plan.scale;
    auto whole = simulate::complete(options);
    if (!whole.ok()) return whole.status();
    runs.push_back({.configuration = whole->configuration, .options = *whole, .result = {}});
  }
  return runs;
}

json metrics_of(const simulate::Result& result) {
  const simulate::Latency& reads = result.warm_read_latency;
  const auto us = [](auto ns) { return static_cast<double>(ns) * 1e-3; };
  return {{"ops_per_second", result.warm_ops_per_second},
          {"mean_us", us(reads.mean_ns)},
          {"p50_us", us(reads.p50_ns)},
          {"p95_us", us(reads.p95_ns)},
          {"p99_us", us(reads.p99_ns)},
          {"hit_ratio", result.warm_hit_ratio},
          {"storage_read_bytes_per_second",
           static_cast<double>(result.warm_storage_read_bytes) / (result.seconds / 2)},
          {"storage_read_p50_us", us(result.warm_storage_latency.p50_ns)}};
}

}  // namespace

StatusOr<json> run_hybrid_simulations(const HybridSimulationPlan& plan, const Clock& clock) {
  const std::vector<HybridScenario> scenarios = planned(plan.memory_mode_only);
  auto runs = runs_of(scenarios, plan);
  if (!runs.ok()) return runs.status();
  const Status status = carry_out(
      *runs, fmt::format("of {} simulations of RocksDB at 1/{}", scenarios.size(), plan.scale),
      clock);
  if (!status.ok()) return status;
  json list = json::array();
  for (size_t i = 0; i < scenarios.size(); ++i) {
    list.push_back({{"workload", scenarios[i].workload},
                    {"variant", scenarios[i].server},
                    {"configuration", scenarios[i].policy},
                    {"round", 1},
                    {"metrics", metrics_of((*runs)[i].result)}});
  }
  return simulation_document(kHybridSimulationFormat, plan.command,
                             {{"size_factor", plan.scale},
                              {"clients", runs->front().options.clients},
                              {"minutes", plan.minutes}},
                             std::move(list));
}

}  // namespace nvcache::reproduce
