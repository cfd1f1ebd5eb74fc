// The order of runs: each round goes through all workloads, and each workload
// through all configurations, so that what is compared is run in turn.
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "apps/command/interrupt.h"
#include "apps/command/machine.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/workload/record.h"
#include "experiments/ycsb/database.h"
#include "experiments/ycsb/result.h"
#include "experiments/ycsb/ycsb_command.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "nvcache/block_cache.h"

namespace nvcache {
namespace {

using nlohmann::json;

// Finds mistakes in specifications before the database is loaded.
Status check_configuration(const EngineKind& kind, const Configuration& configuration) {
  if (configuration.has_own_cache()) return kind.check_own_cache(configuration.spec);
  return kind.open_tier(configuration.spec).status();
}

Status check_configurations(const EngineKind& kind, const BenchOptions& options) {
  for (const Configuration& configuration : options.configurations) {
    const Status status = check_configuration(kind, configuration);
    if (status.ok()) continue;
    return Status(status.code(),
                  fmt::format("configuration {}: {}", configuration.name, status.message()));
  }
  return ok_status();
}

RunPlan plan_of(const BenchOptions& options, const YcsbWorkload& workload, uint32_t round) {
  RunPlan plan;
  plan.workload = workload;
  plan.warmup_workload = options.warmup_workload.value_or(workload);
  if (options.distribution) {
    plan.workload.distribution = *options.distribution;
    plan.warmup_workload.distribution = *options.distribution;
  }
  plan.records = options.records;
  plan.awake = options.awake;
  plan.threads = options.threads;
  plan.warmup_threads = options.warmup_threads;
  plan.warmup_seconds = options.warmup_seconds;
  plan.warmup_ops = options.warmup_ops;
  plan.seconds = options.seconds;
  plan.seed = seed_of(options, workload, round);
  return plan;
}

class Bench {
 public:
  Bench(const BenchOptions& options, const Clock& clock)
      : options_(options), clock_(clock), progress_(clock) {}

  StatusOr<json> run() {
    auto kind = make_engine_kind(options_.engine);
    if (!kind.ok()) return kind.status();
    if (Status status = check_configurations(**kind, options_); !status.ok()) return status;
    auto database = Database::prepare(**kind, options_, clock_, progress_);
    if (!database.ok()) return database.status();
    announce(**database);
    Status status = run_all(**kind, **database);
    for (const auto& [name, folder] : kept_copies_) (*database)->remove_copy(folder);
    if (!status.ok()) return status;
    return document(**kind, **database);
  }

 private:
  void announce(const Database& database) {
    const std::string size = format_bytes(database.size_bytes());
    progress_.say(database.reused() ? fmt::format("database of {} records, {}: loaded before",
                                                  options_.records, size)
                                    : fmt::format("loaded {} records, {}, in {:.1f} s",
                                                  options_.records, size, database.load_seconds()));
  }

  Status run_all(EngineKind& kind, Database& database) {
    for (uint32_t round = 1; round <= options_.rounds; ++round) {
      for (const YcsbWorkload& workload : options_.workloads) {
        for (const Configuration& configuration : options_.configurations) {
          Status status = run_one(kind, database, workload, configuration, round);
          if (!status.ok()) return status;
        }
      }
    }
    return ok_status();
  }

  Status run_one(EngineKind& kind, Database& database, const YcsbWorkload& workload,
                 const Configuration& configuration, uint32_t round) {
    if (Status status = check_not_interrupted(); !status.ok()) return status;
    // A tier that is kept needs the database that its blocks belong to.
    const bool keep = options_.keep_tier && !kind.clones_share_blocks();
    std::string folder = keep ? kept_copies_[configuration.name] : std::string();
    if (folder.empty()) {
      progress_.update(fmt::format("copying the database for {}", configuration.name));
      auto copy = database.fresh_copy();
      if (!copy.ok()) return copy.status();
      folder = *copy;
      if (keep) kept_copies_[configuration.name] = folder;
    }
    Status status = run_in(kind, folder, workload, configuration, round);
    if (!keep) database.remove_copy(folder);
    return status;
  }

  Status run_in(EngineKind& kind, const std::string& folder, const YcsbWorkload& workload,
                const Configuration& configuration, uint32_t round) {
    RunPlan plan = plan_of(options_, workload, round);
    auto tier = kept_tier(kind, configuration, plan);
    if (!tier.ok()) return tier.status();
    const bool own = configuration.has_own_cache();
    auto engine = kind.open({.directory = folder,
                             .dram_cache_bytes = options_.dram_cache_bytes,
                             .tier_spec = own ? "" : configuration.spec,
                             .tier = *tier,
                             .own_cache = own ? configuration.spec : ""});
    if (!engine.ok()) return engine.status();
    const size_t total =
        options_.rounds * options_.workloads.size() * options_.configurations.size();
    plan.title = fmt::format("[{}/{}] ycsb {} {}", runs_.size() + 1, total, workload.name,
                             configuration.name);
    auto result = run_workload(**engine, plan, clock_, progress_);
    Status closed = (*engine)->close();
    if (!result.ok()) return result.status();
    if (!closed.ok()) return closed;
    runs_.push_back(run_to_json(workload, configuration, round, *result));
    const json& metrics = runs_.back()["metrics"];
    std::string line = fmt::format("{}: {:.0f} ops/s, {:.3f} block reads/op", plan.title,
                                   metrics["ops_per_second"].get<double>(),
                                   metrics["block_reads_per_op"].get<double>());
    if (metrics.contains("tier_hit_ratio")) {
      line +=
          fmt::format(", hit {:.1f}%, {} written", 100 * metrics["tier_hit_ratio"].get<double>(),
                      format_bytes(metrics["tier_written_bytes"].get<uint64_t>()));
    }
    progress_.say(line);
    return ok_status();
  }

  // With keep_tier: the configuration's tier, opened at its first use. A run with a
  // warm tier has to warm the engine's DRAM cache only. (The engine's own second-tier cache
  // is closed with the engine, and cold each time.)
  StatusOr<std::shared_ptr<BlockCache>> kept_tier(const EngineKind& kind,
                                                  const Configuration& configuration,
                                                  RunPlan& plan) {
    if (!options_.keep_tier || configuration.has_own_cache()) return nullptr;
    std::shared_ptr<BlockCache>& tier = tiers_[configuration.name];
    if (tier == nullptr) {
      auto opened = kind.open_tier(configuration.spec);
      if (!opened.ok()) return opened.status();
      tier = *std::move(opened);
      if (tier != nullptr) return tier;
    }
    plan.warmup_seconds = options_.rewarm_seconds;
    plan.warmup_ops = 0;
    return tier;
  }

  json configurations_json() const {
    json list = json::array();
    for (const Configuration& configuration : options_.configurations) {
      json entry = {{"name", configuration.name},
                    {"spec", configuration.spec.empty() ? "none" : configuration.spec}};
      for (const json& run : runs_) {
        if (run["configuration"] != configuration.name || !run.contains("medium")) continue;
        entry["medium"] = run["medium"];
        entry["admission"] = run["admission"];
        entry["eviction"] = run["eviction"];
        entry["emulated"] = run["medium"].get<std::string>().find("emulated") != std::string::npos;
        break;
      }
      list.push_back(std::move(entry));
    }
    return list;
  }

  json workloads_json() const {
    json list = json::array();
    for (const YcsbWorkload& workload : options_.workloads) {
      const auto distribution = options_.distribution.value_or(workload.distribution);
      list.push_back({{"name", std::string(1, workload.name)},
                      {"mix", workload.describe_mix()},
                      {"distribution", std::string(distribution_name(distribution))}});
    }
    return list;
  }

  json document(const EngineKind& kind, const Database& database) const {
    json setup = {{"records", options_.records},
                  {"record_bytes", kRecordBytes},
                  {"threads", options_.threads},
                  {"seconds", options_.seconds},
                  {"warmup_seconds", options_.warmup_seconds},
                  {"warmup_ops", options_.warmup_ops},
                  {"warmup_threads", std::max(options_.threads, options_.warmup_threads)},
                  {"keep_tier", options_.keep_tier},
                  {"rewarm_seconds", options_.rewarm_seconds},
                  {"rounds", options_.rounds},
                  {"first_round", options_.first_round},
                  {"dram_cache_bytes", options_.dram_cache_bytes},
                  {"seed", options_.seed},
                  {"awake", options_.awake},
                  {"database_bytes", database.size_bytes()}};
    setup["load_seconds"] = database.reused() ? json() : json(database.load_seconds());
    if (options_.warmup_workload) {
      setup["warmup_workload"] = std::string(1, options_.warmup_workload->name);
    }
    return {{"kind", "ycsb"},
            {"schema", 1},
            {"nvcache", NVCACHE_VERSION},
            {"command", options_.command},
            {"finished", utc_now()},
            {"machine", machine_facts()},
            {"engine", kind.describe()},
            {"setup", setup},
            {"workloads", workloads_json()},
            {"configurations", configurations_json()},
            {"runs", runs_},
            {"summary", summarize(runs_)}};
  }

  const BenchOptions& options_;
  const Clock& clock_;
  Progress progress_;
  // With keep_tier, by configuration.
  std::map<std::string, std::shared_ptr<BlockCache>> tiers_;
  std::map<std::string, std::string> kept_copies_;  // folders
  json runs_ = json::array();
};

}  // namespace

StatusOr<json> run_bench(const BenchOptions& options, const Clock& clock) {
  return Bench(options, clock).run();
}

}  // namespace nvcache
