#include "experiments/hybrid_cache/hybrid_cache_run.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "apps/command/interrupt.h"
#include "apps/command/machine.h"
#include "base/prng.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/hybrid_cache/hybrid_cache_figures.h"
#include "experiments/hybrid_cache/paper_facts.h"
#include "experiments/hybrid_cache/profile_folder.h"
#include "experiments/hybrid_cache/profile_run.h"
#include "nvcache/block_cache.h"

namespace nvcache::hybrid_cache {
namespace {

using nlohmann::json;

constexpr double kRunOverheadSeconds = 0.7;   // copying, opening and closing
constexpr double kDisturbed = 0.15;           // of all processors
constexpr double kPaperGbBytes = 1ull << 30;  // for the scale as people read it

uint32_t threads_of(const Options& options, const WorkloadProfile& profile) {
  return options.threads > 0 ? options.threads : profile.threads;
}

std::string name_of(const Experiment& experiment) {
  return fmt::format("{} {}", experiment.server->name, experiment.policy->name);
}

// A mistake in --medium is found before anything is loaded: tiers are opened lazily.
Status check_medium(const Options& options) {
  const auto cache =
      open_block_cache(fmt::format("nvcache://?size=1MiB&medium={}", options.medium));
  if (cache.ok()) return ok_status();
  return invalid_argument("--medium {}: {}", options.medium, cache.status().message());
}

Status check_experiments(const Options& options, const std::vector<Experiment>& experiments) {
  for (const Experiment& experiment : experiments) {
    const Status status =
        check_store(cache_spec(options, *experiment.server, *experiment.policy), options.storage);
    if (status.ok()) continue;
    return Status(status.code(), fmt::format("{}: {}", name_of(experiment), status.message()));
  }
  return ok_status();
}

class Run {
 public:
  Run(const Options& options, const Clock& clock)
      : options_(options),
        clock_(clock),
        progress_(clock),
        experiments_(plan_experiments(options)) {}

  StatusOr<json> run() {
    if (!options_.needs_runs()) return document();
    if (Status status = check_medium(options_); !status.ok()) return status;
    if (Status status = check_experiments(options_, experiments_); !status.ok()) {
      return status;
    }
    auto folder = ProfileFolder::take(options_.db, options_.keep_db);
    if (!folder.ok()) return folder.status();
    progress_.say(estimate(options_));
    for (const WorkloadProfile& profile : options_.workloads) {
      if (Status status = run_workload(**folder, profile); !status.ok()) return status;
      (*folder)->done_with(profile.name);
    }
    return document();
  }

 private:
  Status run_workload(ProfileFolder& folder, const WorkloadProfile& profile) {
    std::vector<const Experiment*> mine;
    for (const Experiment& experiment : experiments_) {
      if (experiment.workload == &profile) mine.push_back(&experiment);
    }
    if (mine.empty()) return ok_status();
    auto loaded = folder.load(profile, options_.gb_bytes, options_.seed, clock_, progress_);
    if (!loaded.ok()) return loaded.status();
    progress_.say(fmt::format("{}: {} databases of {} pairs, {}, {}", profile.name,
                              profile.databases, loaded->keys, format_bytes(loaded->size_bytes),
                              loaded->load_seconds > 0
                                  ? fmt::format("loaded in {:.1f} s", loaded->load_seconds)
                                  : "loaded before"));
    databases_.push_back({{"workload", profile.name},
                          {"keys", loaded->keys},
                          {"bytes", loaded->size_bytes},
                          {"load_seconds", loaded->load_seconds}});
    for (uint32_t round = 1; round <= options_.rounds; ++round) {
      for (const Experiment* experiment : mine) {
        Status status = run_one(folder, *experiment, loaded->keys, round);
        if (!status.ok()) return status;
      }
    }
    return ok_status();
  }

  // Fails only where it makes no sense to go on.
  Status run_one(ProfileFolder& folder, const Experiment& experiment, uint64_t keys,
                 uint32_t round) {
    if (Status status = check_not_interrupted(); !status.ok()) return status;
    const std::string title =
        fmt::format("[{}/{}] {} {}", runs_.size() + 1, experiments_.size() * options_.rounds,
                    experiment.workload->name, name_of(experiment));
    auto result = measure(folder, experiment, keys, round, title);
    if (is_cancelled(result.status())) return result.status();
    json run = {{"workload", experiment.workload->name},
                {"configuration", experiment.policy->name},
                {"round", round}};
    if (result.ok()) {
      run = profile_run_to_json(experiment.workload->name, std::string(experiment.policy->name),
                                round, *result);
      const json& metrics = run["metrics"];
      progress_.say(fmt::format("{}: {:.0f} ops/s, hit {:.1f}%, p50 {:.1f} us, p99 {:.0f} us",
                                title, metrics["ops_per_second"].get<double>(),
                                100 * metrics.value("hit_ratio", 0.0),
                                metrics["p50_us"].get<double>(), metrics["p99_us"].get<double>()));
    } else {
      run["error"] = std::string(result.status().message());
      progress_.say(fmt::format("{}: FAILED: {}", title, result.status().message()));
    }
    run["variant"] = experiment.server->name;
    runs_.push_back(std::move(run));
    return ok_status();
  }

  StatusOr<ProfileResult> measure(ProfileFolder& folder, const Experiment& experiment,
                                  uint64_t keys, uint32_t round, const std::string& title) {
    const WorkloadProfile& profile = *experiment.workload;
    auto directory = folder.copy_for_run(profile.name);
    if (!directory.ok()) return directory.status();
    // Table 4 counts index and filter blocks apart from the block cache.
    auto store = open_store({.directory = *directory,
                             .databases = profile.databases,
                             .cache = cache_spec(options_, *experiment.server, *experiment.policy),
                             .storage = options_.storage,
                             .index_in_cache = false});
    if (!store.ok()) return store.status();
    ProfilePlan plan;
    plan.profile = &profile;
    plan.keys = keys;
    plan.store_seed = options_.seed;
    // All caches of a round see the same operations; rounds differ.
    plan.seed = mix64(options_.seed + round);
    plan.threads = threads_of(options_, profile);
    plan.warmup_seconds = options_.warmup_seconds;
    plan.seconds = options_.seconds;
    plan.title = title;
    auto result = run_profile(**store, plan, clock_, progress_);
    Status closed = (*store)->close();
    if (result.ok() && !closed.ok()) return closed;
    return result;
  }

  // The largest share of the processors that other processes took during a run.
  double disturbance() const {
    double most = 0;
    for (const json& run : runs_) {
      if (run.contains("metrics"))
        most = std::max(most, run["metrics"].value("other_cpu_ratio", 0.0));
    }
    return most;
  }

  json notes() const {
    json list = what_to_know();
    if (disturbance() > kDisturbed) {
      list.push_back(fmt::format(
          "DISTURBED: other processes took up to {:.0f}% of the processors during a run; "
          "throughput, latencies and what follows from them are not to be trusted.",
          100 * disturbance()));
    }
    return list;
  }

  json what_to_know() const {
    const uint32_t threads =
        options_.workloads.empty() ? 0 : threads_of(options_, options_.workloads[0]);
    json list = {
        fmt::format(
            "{} client threads: a wait for emulated SCM keeps its core busy; one for "
            "emulated flash sleeps; the 1P server of *Hybrid Cache* has 36 hardware threads.",
            threads),
        "2P is its block cache alone (150 GB of DRAM): its second processor is left out.",
        "DRAM only is RocksDB's own LRUCache; index and filter blocks lie outside of all block "
        "caches, as in Table 4.",
        "The parameters of the workloads are our choice where *Hybrid Cache* has no numbers "
        "(experiments/hybrid_cache/profiles)."};
    for (const std::string& emulated : {options_.medium, options_.storage}) {
      if (emulated.find(",load=") == std::string::npos) continue;
      list.push_back(
          fmt::format("{}: each client here stands for that many of the server's in *Hybrid "
                      "Cache*, and waits for "
                      "their accesses, too (docs/results/hybrid_cache.md).",
                      emulated));
    }
    return list;
  }

  json setup() const {
    std::string names;
    for (const WorkloadProfile& profile : options_.workloads) {
      names += fmt::format("{}{}", names.empty() ? "" : ",", profile.name);
    }
    const uint32_t threads =
        options_.workloads.empty() ? 1 : threads_of(options_, options_.workloads[0]);
    return {
        {"engine", "rocksdb"},
        {"figures", options_.figures},
        {"tables", options_.tables},
        {"workloads", names},
        {"medium", fmt::format("{} (SCM), {} (storage)", options_.medium, options_.storage)},
        {"scm_medium", options_.medium},
        {"storage", options_.storage},
        {"emulated", options_.emulated()},
        {"rounds", options_.rounds},
        {"seconds", options_.seconds},
        {"warmup_seconds", options_.warmup_seconds},
        {"ycsb_seconds", 0},
        {"ycsb_warmup_seconds", 0},
        {"gb_bytes", options_.gb_bytes},
        {"size_factor", std::lround(kPaperGbBytes / static_cast<double>(options_.gb_bytes))},
        {"time_factor", 1},
        {"thread_factor", 36 / std::max(threads, 1u)},
        {"scale_text",
         fmt::format("a GB of *Hybrid Cache* is {}; latencies, bandwidths, blocks and pairs are "
                     "unscaled; {} client threads",
                     format_bytes(options_.gb_bytes), threads)},
        {"runs_name", "Each run"},
        {"runs_text",
         fmt::format("{:g} s warm-up, {:g} s measured", options_.warmup_seconds, options_.seconds)},
        {"threads", threads},
        {"seed", options_.seed},
        {"notes", notes()}};
  }

  json configurations() const {
    json list = json::array();
    for (const Experiment& experiment : experiments_) {
      if (experiment.workload != &options_.workloads[0]) continue;
      const bool scm = !experiment.policy->spec.empty();
      list.push_back({{"name", name_of(experiment)},
                      {"what", experiment.policy->label},
                      {"spec", cache_spec(options_, *experiment.server, *experiment.policy)},
                      {"medium", scm ? options_.medium : ""},
                      {"emulated", scm && is_emulated(options_.medium)}});
    }
    if (options_.storage != "disk") {
      list.push_back({{"name", "storage"},
                      {"what", "reads of SST files"},
                      {"spec", options_.storage},
                      {"medium", options_.storage},
                      {"emulated", true}});
    }
    return list;
  }

  json document() const {
    json workloads = json::array();
    for (const WorkloadProfile& profile : options_.workloads) {
      workloads.push_back(profile_json(profile));
    }
    json facts = json::array();
    for (const PaperFact& fact : paper_facts()) {
      facts.push_back(
          {{"id", fact.id}, {"where", fact.where}, {"value", fact.value}, {"what", fact.what}});
    }
    json result = {{"kind", "paper"},
                   {"schema", 1},
                   {"format", "nvcache.hybrid/1"},
                   {"nvcache", NVCACHE_VERSION},
                   {"command", options_.command},
                   {"finished", utc_now()},
                   {"machine", machine_facts()},
                   {"engine", describe_store()},
                   {"setup", setup()},
                   {"configurations", configurations()},
                   {"workloads", workloads},
                   {"databases", databases_},
                   {"runs", runs_},
                   {"ycsb_runs", json::array()},
                   {"paper", facts}};
    result["figures"] = make_figures(result);
    return result;
  }

  const Options& options_;
  const Clock& clock_;
  Progress progress_;
  const std::vector<Experiment> experiments_;
  json databases_ = json::array();
  json runs_ = json::array();
};

}  // namespace

std::vector<Experiment> plan_experiments(const Options& options) {
  std::vector<Experiment> list;
  if (!options.needs_runs()) return list;
  for (const WorkloadProfile& profile : options.workloads) {
    const bool first = &profile == &options.workloads[0];
    if (!first && !options.needs_all_workloads()) continue;
    for (const Server& server : servers()) {
      for (const Policy& policy : policies()) {
        const bool dram_only = policy.name == kDramOnly;
        if (dram_only != (server.scm_gb == 0)) continue;
        if (server.name == kTwoSockets && !options.needs_two_sockets()) continue;
        const bool compared =
            first && options.figures.contains(9) &&
            (options.policies.empty() || options.policies.contains(std::string(policy.name)));
        if (!dram_only && policy.name != kDramFirst && !compared) continue;
        if (policy.name == kScmOnly && server.name == "64-128") continue;
        list.push_back({&profile, &server, &policy});
      }
    }
  }
  return list;
}

std::string estimate(const Options& options) {
  const auto runs = static_cast<double>(plan_experiments(options).size() * options.rounds);
  const double seconds = runs * (options.warmup_seconds + options.seconds + kRunOverheadSeconds);
  return fmt::format("{:g} runs: about {:.0f} minutes, loading apart", runs, seconds / 60);
}

StatusOr<json> run_hybrid_cache(const Options& options, const Clock& clock) {
  return Run(options, clock).run();
}

}  // namespace nvcache::hybrid_cache
