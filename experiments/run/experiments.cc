#include "experiments/run/experiments.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "apps/command/interrupt.h"
#include "base/hash.h"
#include "base/prng.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/run/result.h"
#include "experiments/run/run.h"
#include "nvcache/block_cache.h"

namespace nvcache {
namespace {

using nlohmann::json;

RunPlan plan_of(const BenchOptions& options, const Experiment& experiment) {
  RunPlan plan;
  plan.threads = experiment.threads;
  plan.warmup_threads = options.warmup_threads;
  plan.warmup_seconds = options.warmup_seconds;
  plan.warmup_ops = options.warmup_ops;
  plan.seconds = options.seconds;
  plan.awake = options.awake;
  return plan;
}

std::string result_line(const json& metrics) {
  std::string line = fmt::format("{:.0f} ops/s", metrics["ops_per_second"].get<double>());
  const double reads =
      metrics.value("storage_reads_per_op", metrics["block_reads_per_op"].get<double>());
  line += fmt::format(", {:.3f} block reads/op", reads);
  if (metrics.contains("tier_hit_ratio")) {
    line += fmt::format(", hit {:.1f}%, {} written", 100 * metrics["tier_hit_ratio"].get<double>(),
                        format_bytes(metrics["tier_written_bytes"].get<uint64_t>()));
  } else if (metrics.contains("hit_ratio")) {
    line += fmt::format(", hit {:.1f}%, p99 {:.0f} us", 100 * metrics["hit_ratio"].get<double>(),
                        metrics["p99_us"].get<double>());
  }
  return line;
}

class Runner {
 public:
  Runner(EngineKind& kind, Databases& databases, const BenchOptions& options, const Clock& clock,
         Progress& progress, size_t runs)
      : kind_(kind),
        databases_(databases),
        options_(options),
        clock_(clock),
        progress_(progress),
        total_(runs) {}

  // All of one database.
  Status run(const std::vector<const Experiment*>& experiments) {
    const Load& load = *experiments.front()->load;
    const DatabaseFacts facts = load.database();
    // A tier that is kept needs the database that its blocks belong to.
    keep_copies_ = options_.keep_tier && !kind_.clones_share_blocks();
    std::set<std::string> kept;
    for (const Experiment* each : experiments) kept.insert(each->configuration);
    const uint64_t copies = keep_copies_ ? kept.size() : 1;
    auto loaded = databases_.load(kind_, load, copies, clock_, progress_);
    if (!loaded.ok()) return loaded.status();
    progress_.say(fmt::format("{}: {} database{} of {} pairs, {}", facts.name, facts.databases,
                              facts.databases == 1 ? "" : "s", facts.pairs, loaded->text()));
    result_.databases.push_back(
        {{"workload", facts.name},
         {"pairs", facts.pairs},
         {"bytes", loaded->size_bytes},
         {"load_seconds", loaded->load_seconds > 0 ? json(loaded->load_seconds) : json()}});
    for (uint32_t round = 1; round <= options_.rounds; ++round) {
      for (const Experiment* experiment : experiments) {
        if (Status status = run_one(*experiment, round); !status.ok()) return status;
      }
    }
    tiers_.clear();
    copies_.clear();
    databases_.remove_runs();
    databases_.done_with(facts.name);
    return ok_status();
  }

  ExperimentRuns take() { return std::move(result_); }

 private:
  // Fails where it makes no sense to go on.
  Status run_one(const Experiment& experiment, uint32_t round) {
    if (Status status = check_not_interrupted(); !status.ok()) return status;
    const std::string variant = experiment.more.value("variant", "");
    const std::string title =
        fmt::format("[{}/{}] {} {}{}{}", result_.runs.size() + 1, total_, experiment.load->name(),
                    variant, variant.empty() ? "" : " ", experiment.configuration);
    auto run = run_in_copy(experiment, round, title);
    if (!run.ok() && (!options_.go_on || is_cancelled(run.status()))) return run.status();
    json entry;
    if (run.ok()) {
      entry = *std::move(run);
      progress_.say(fmt::format("{}: {}", title, result_line(entry["metrics"])));
    } else {
      entry = {{"workload", experiment.load->name()},
               {"configuration", experiment.configuration},
               {"round", round},
               {"error", run.status().message()}};
      progress_.say(fmt::format("{}: FAILED: {}", title, run.status().message()));
    }
    entry.update(experiment.more);
    result_.runs.push_back(std::move(entry));
    return ok_status();
  }

  StatusOr<json> run_in_copy(const Experiment& experiment, uint32_t round,
                             const std::string& title) {
    std::string folder = keep_copies_ ? copies_[experiment.configuration] : "";
    if (folder.empty()) {
      progress_.update(fmt::format("copying the database for {}", experiment.configuration));
      folder = databases_.run_folder();
      const std::string loaded = databases_.path(experiment.load->database().name);
      if (Status status = kind_.clone(loaded, folder); !status.ok()) return status;
      if (keep_copies_) copies_[experiment.configuration] = folder;
    }
    auto run = run_in(folder, experiment, round, title);
    std::error_code ignored;
    if (!keep_copies_) std::filesystem::remove_all(folder, ignored);
    return run;
  }

  StatusOr<json> run_in(const std::string& folder, const Experiment& experiment, uint32_t round,
                        const std::string& title) {
    RunPlan plan = plan_of(options_, experiment);
    plan.title = title;
    EngineOptions where = experiment.engine;
    where.directory = folder;
    where.databases = experiment.load->database().databases;
    auto tier = kept_tier(experiment, plan);
    if (!tier.ok()) return tier.status();
    where.tier = *std::move(tier);
    auto engine = kind_.open(where);
    if (!engine.ok()) return engine.status();
    auto result = run_load(**engine, *experiment.load, seed_of(options_, *experiment.load, round),
                           plan, clock_, progress_);
    Status closed = (*engine)->close();
    if (!result.ok()) return result.status();
    if (!closed.ok()) return closed;
    return run_to_json(*experiment.load, experiment.configuration, round, *result);
  }

  // With keep_tier: the configuration's tier, opened at its first use. A run with a warm tier has
  // to warm the engine's DRAM cache only. (The engine's own second-tier cache is closed with the
  // engine, and cold each time.)
  StatusOr<std::shared_ptr<BlockCache>> kept_tier(const Experiment& experiment, RunPlan& plan) {
    if (!options_.keep_tier || !experiment.engine.own_cache.empty()) return nullptr;
    std::shared_ptr<BlockCache>& tier = tiers_[experiment.configuration];
    if (tier == nullptr) {
      auto opened = kind_.open_tier(experiment.engine.tier_spec);
      if (!opened.ok()) return opened.status();
      tier = *std::move(opened);
      if (tier != nullptr) return tier;
    }
    plan.warmup_seconds = options_.rewarm_seconds;
    plan.warmup_ops = 0;
    return tier;
  }

  EngineKind& kind_;
  Databases& databases_;
  const BenchOptions& options_;
  const Clock& clock_;
  Progress& progress_;
  const size_t total_;
  bool keep_copies_ = false;
  // With keep_tier, by configuration.
  std::map<std::string, std::shared_ptr<BlockCache>> tiers_;
  std::map<std::string, std::string> copies_;  // folders
  ExperimentRuns result_;
};

}  // namespace

uint64_t seed_of(const BenchOptions& options, const Load& load, uint32_t round) {
  return mix64(mix64(options.seed + options.first_round + round) ^ hash_bytes(load.name()));
}

Status check_experiments(const EngineKind& kind, const std::vector<Experiment>& experiments) {
  std::set<std::string> seen;
  for (const Experiment& experiment : experiments) {
    const EngineOptions& engine = experiment.engine;
    if (!seen.insert(engine.own_cache + engine.tier_spec).second) continue;
    Status status = kind.check_storage(engine.storage);
    if (!status.ok()) return status;
    status = engine.own_cache.empty() ? kind.open_tier(engine.tier_spec).status()
                                      : kind.check_own_cache(engine.own_cache);
    if (status.ok()) continue;
    return Status(status.code(),
                  fmt::format("configuration {}: {}", experiment.configuration, status.message()));
  }
  return ok_status();
}

StatusOr<ExperimentRuns> run_experiments(EngineKind& kind, Databases& databases,
                                         const std::vector<Experiment>& experiments,
                                         const BenchOptions& options, const Clock& clock,
                                         Progress& progress) {
  std::vector<std::string> names;  // of databases, in the order of their first experiment
  std::map<std::string, std::vector<const Experiment*>> by_name;
  for (const Experiment& experiment : experiments) {
    const std::string name = experiment.load->database().name;
    if (by_name[name].empty()) names.push_back(name);
    by_name[name].push_back(&experiment);
  }
  Runner runner(kind, databases, options, clock, progress, experiments.size() * options.rounds);
  for (const std::string& name : names) {
    if (Status status = runner.run(by_name[name]); !status.ok()) return status;
  }
  return runner.take();
}

}  // namespace nvcache
