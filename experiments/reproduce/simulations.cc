#include "experiments/reproduce/simulations.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "experiments/reproduce/simulation_document.h"
#include "experiments/simulate/study.h"
#include "experiments/writes_hurt/scale.h"

namespace nvcache::reproduce {
namespace {

using nlohmann::json;

// The page cache has to hold what the clients use at a time: one of 1 GB, or 430 clients.
uint32_t most_scale(const Scenario& scenario) {
  if (scenario.workload == kStressWorkload) return 512;
  return scenario.workload == kScanWorkload ? 1024 : 4096;
}

StatusOr<std::vector<simulate::Run>> runs_of_plan(const SimulationPlan& plan) {
  std::vector<simulate::Run> runs;
  for (const Scenario& scenario : plan.scenarios) {
    simulate::Options options;
    options.workload = scenario.workload;
    options.configuration = scenario.configuration;
    options.dram_bytes = static_cast<uint64_t>(scenario.dram_gb) * simulate::kGiB;
    if (scenario.nvram_gb > 0) {
      options.nvram_bytes = static_cast<uint64_t>(scenario.nvram_gb) * simulate::kGiB;
    }
    options.dataset_bytes = static_cast<uint64_t>(scenario.data_gb) * simulate::kGiB;
    options.minutes = plan.minutes;
    options.seed = plan.seed;
    options.scale = std::min(plan.scale, most_scale(scenario));
    auto whole = simulate::complete(options);
    if (!whole.ok()) {
      return invalid_argument("{} {}: {}", scenario.workload, scenario.configuration,
                              whole.status().message());
    }
    runs.push_back({.configuration = scenario.configuration, .options = *whole, .result = {}});
  }
  return runs;
}

// Its variant and configuration, as runs on WiredTiger call them (origin.h).
std::pair<std::string, std::string> names_of(const Scenario& scenario) {
  const bool none = scenario.configuration == "none";
  if (scenario.workload.size() > 1) {
    if (scenario.data_gb == 0) return {"large", scenario.configuration};
    return {"small", none ? "none" : "alloc-read-write"};
  }
  return {fmt::format("{}-{}", scenario.dram_gb == kSimulatedDramGb ? "dram" : "split",
                      scenario.dram_gb),
          none ? "none" : fmt::format("{}-{}", scenario.configuration, scenario.nvram_gb)};
}

json run_json(const Scenario& scenario, const simulate::Result& result) {
  const auto [variant, configuration] = names_of(scenario);
  return {{"workload", scenario.workload},
          {"variant", variant},
          {"configuration", configuration},
          {"round", 1},
          {"seed", result.options.seed},
          {"scale", result.options.scale},
          {"metrics",
           {{"ops_per_second", result.ops_per_second},
            {"warm_ops_per_second", result.warm_ops_per_second},
            {"reads_per_second", static_cast<double>(result.reads) / result.seconds},
            {"read_ns", result.read_latency.mean_ns},
            {"update_ns", result.update_latency.mean_ns},
            {"page_hit_ratio", result.page_hit_ratio()},
            {"os_hit_ratio", result.os_hit_ratio()},
            {"line_hit_ratio", result.line_hit_ratio()},
            {"tier_hit_ratio", result.tier_hit_ratio},
            {"warm_tier_hit_ratio", result.warm_tier_hit_ratio},
            {"interval_variation", result.interval_variation},
            {"tier_read_bytes", result.nvram_read_bytes},
            {"tier_written_bytes", result.nvram_written_bytes},
            {"storage_read_bytes", result.storage_read_bytes},
            {"storage_written_bytes", result.storage_written_bytes}}}};
}

void add_ycsb(std::vector<Scenario>& plan, bool memory_mode_only) {
  for (const char* workload : kYcsbLetters) {
    plan.push_back({.workload = workload, .configuration = "none"});
    for (const int nvram_gb : kSimulatedNvramGb) {
      for (const char* name : {"nvcache", "memory-mode", "open-cas"}) {
        if (memory_mode_only && std::string_view(name) == "open-cas") continue;
        plan.push_back({.workload = workload, .configuration = name, .nvram_gb = nvram_gb});
      }
    }
  }
}

// Section 3.2.3, and Table 1.
void add_in_house(std::vector<Scenario>& plan) {
  constexpr int kTierGb = static_cast<int>(writes_hurt::kTable1NvcacheGb);
  for (const char* workload : {"evict-btree", kScanWorkload, "medium-btree"}) {
    for (const char* name : {"eager", "no-eviction"}) {
      plan.push_back({.workload = workload, .configuration = name, .nvram_gb = kTierGb});
    }
  }
  for (const char* workload : kYcsbLetters) {
    for (const char* name : {"nvcache-obp5", "nvcache-obp30"}) {
      plan.push_back({.workload = workload, .configuration = name, .nvram_gb = kObpNvramGb});
    }
  }
  for (const char* workload : {kStressWorkload, kScanWorkload}) {
    plan.push_back({.workload = workload, .configuration = "none"});
    plan.push_back({.workload = workload, .configuration = "nvcache", .nvram_gb = 252});
  }
  plan.push_back(small_stress("none"));
  plan.push_back(small_stress("no-eviction"));
}

}  // namespace

Scenario small_stress(const char* configuration) {
  return {.workload = kStressWorkload,
          .configuration = configuration,
          .dram_gb = 16,
          .nvram_gb = std::string_view(configuration) == "none" ? 0 : 252,
          .data_gb = 12};
}

std::vector<Scenario> planned_simulations(const std::string& only) {
  const bool memory_mode_only = only == "memory-mode";
  if (!only.empty() && !memory_mode_only && only != "writes-hurt") return {};
  std::vector<Scenario> plan;
  add_ycsb(plan, memory_mode_only);
  if (memory_mode_only) return plan;
  plan.push_back({.workload = "c", .configuration = "none", .dram_gb = 96});
  add_in_house(plan);
  return plan;
}

StatusOr<json> run_simulations(const SimulationPlan& plan, const Clock& clock) {
  auto runs = runs_of_plan(plan);
  if (!runs.ok()) return runs.status();
  const Status status = carry_out(
      *runs, fmt::format("of {} simulations at 1/{}", plan.scenarios.size(), plan.scale), clock);
  if (!status.ok()) return status;
  json list = json::array();
  for (size_t i = 0; i < runs->size(); ++i) {
    list.push_back(run_json(plan.scenarios[i], (*runs)[i].result));
  }
  return simulation_document(kSimulationsFormat, plan.command,
                             {{"size_factor", plan.scale}, {"minutes", plan.minutes}},
                             std::move(list));
}

}  // namespace nvcache::reproduce
