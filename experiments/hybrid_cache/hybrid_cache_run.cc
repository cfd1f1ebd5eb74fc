#include "experiments/hybrid_cache/hybrid_cache_run.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "experiments/harness/paper_parts.h"
#include "experiments/harness/paper_table.h"
#include "experiments/hybrid_cache/servers.h"

namespace nvcache::hybrid_cache {
namespace {

using nlohmann::json;

constexpr double kRunOverheadSeconds = 0.7;   // copying, opening and closing
constexpr double kDisturbed = 0.15;           // of all processors
constexpr double kPaperGbBytes = 1ull << 30;  // for the scale as people read it

uint32_t threads_of(const Options& options) {
  if (options.threads > 0 || options.workloads.empty()) return std::max(options.threads, 1u);
  return options.workloads[0].threads;
}

// The largest share of the processors that other processes took during a run.
double disturbance(const json& runs) {
  double most = 0;
  for (const json& run : runs) {
    if (run.contains("metrics"))
      most = std::max(most, run["metrics"].value("other_cpu_ratio", 0.0));
  }
  return most;
}

json notes_of(const Options& options, const json& runs) {
  json list = {
      fmt::format("{} client threads: a wait for emulated SCM keeps its core busy; one for "
                  "emulated flash sleeps; the 1P server of *Hybrid Cache* has 36 hardware threads.",
                  threads_of(options)),
      "2P is its block cache alone (150 GB of DRAM): its second processor is left out.",
      "DRAM only is RocksDB's own LRUCache; index and filter blocks lie outside of all block "
      "caches, as in Table 4.",
      "The parameters of the workloads are our choice where *Hybrid Cache* has no numbers "
      "(experiments/run/profiles)."};
  for (const std::string& emulated : {options.medium, options.storage}) {
    if (emulated.find(",load=") == std::string::npos) continue;
    list.push_back(
        fmt::format("{}: each client here stands for that many of the server's in "
                    "*Hybrid Cache*, and waits for their accesses, too "
                    "(docs/results/hybrid_cache.md).",
                    emulated));
  }
  if (disturbance(runs) > kDisturbed) {
    list.push_back(
        fmt::format("DISTURBED: other processes took up to {:.0f}% of the processors during a run; "
                    "throughput, latencies and what follows from them are not to be trusted.",
                    100 * disturbance(runs)));
  }
  return list;
}

json setup_of(const Options& options, const json& runs) {
  std::vector<std::string> names;
  for (const WorkloadProfile& profile : options.workloads) names.push_back(profile.name);
  const uint32_t threads = threads_of(options);
  return {{"engine", "rocksdb"},
          {"figures", options.figures},
          {"tables", options.tables},
          {"workloads", fmt::format("{}", fmt::join(names, ","))},
          {"medium", fmt::format("{} (SCM), {} (storage)", options.medium, options.storage)},
          {"scm_medium", options.medium},
          {"storage", options.storage},
          {"emulated", options.emulated()},
          {"rounds", options.rounds},
          {"seconds", options.seconds},
          {"warmup_seconds", options.warmup_seconds},

          {"gb_bytes", options.gb_bytes},
          {"size_factor", std::lround(kPaperGbBytes / static_cast<double>(options.gb_bytes))},
          {"time_factor", 1},
          {"thread_factor", 36 / threads},
          {"scale_text",
           fmt::format("a GB of *Hybrid Cache* is {}; latencies, bandwidths, blocks and pairs are "
                       "unscaled; {} client threads",
                       format_bytes(options.gb_bytes), threads)},
          {"runs_name", "Each run"},
          {"runs_text",
           fmt::format("{:g} s warm-up, {:g} s measured", options.warmup_seconds, options.seconds)},
          {"threads", threads},
          {"seed", options.seed},
          {"notes", notes_of(options, runs)}};
}

json configurations_of(const Options& options, const std::vector<Experiment>& experiments) {
  json list = json::array();
  for (const Experiment& experiment : experiments) {
    if (experiment.load != experiments[0].load) break;
    const bool scm = experiment.engine.own_cache.starts_with("tiered://");
    list.push_back({{"name", fmt::format("{} {}", experiment.more["variant"].get<std::string>(),
                                         experiment.configuration)},
                    {"what", find_policy(experiment.configuration).value()->label},
                    {"spec", experiment.engine.own_cache},
                    {"medium", scm ? options.medium : ""},
                    {"emulated", scm && is_emulated(options.medium)}});
  }
  if (options.storage == "disk") return list;
  list.push_back({{"name", "storage"},
                  {"what", "reads of SST files"},
                  {"spec", options.storage},
                  {"medium", options.storage},
                  {"emulated", true}});
  return list;
}

StatusOr<ExperimentRuns> run_all(EngineKind& kind, const std::vector<Experiment>& experiments,
                                 const Options& options, const Clock& clock) {
  if (Status status = check_medium(options.medium); !status.ok()) return status;
  if (Status status = check_experiments(kind, experiments); !status.ok()) return status;
  auto databases = Databases::take(options.db, options.keep_db);
  if (!databases.ok()) return databases.status();
  Progress progress(clock);
  progress.say(estimate(options));
  return run_experiments(kind, **databases, experiments, options, clock, progress);
}

}  // namespace

std::vector<Experiment> plan_experiments(const Options& options) {
  std::vector<Experiment> list;
  if (!options.needs_runs()) return list;
  for (const WorkloadProfile& profile : options.workloads) {
    const bool first = &profile == &options.workloads[0];
    if (!first && !options.needs_all_workloads()) continue;
    const std::shared_ptr<const Load> load =
        make_profile_load({.profile = profile, .gb_bytes = options.gb_bytes, .seed = options.seed});
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
        Experiment experiment;
        experiment.load = load;
        experiment.configuration = policy.name;
        // Table 4 counts index and filter blocks apart from the block cache.
        experiment.engine.own_cache = cache_spec(options, server, policy);
        experiment.engine.storage = options.storage;
        experiment.threads = options.threads > 0 ? options.threads : profile.threads;
        experiment.more = {{"variant", server.name}};
        list.push_back(std::move(experiment));
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
  json result = paper_document("nvcache.hybrid/1", options.command);
  const std::vector<Experiment> experiments = plan_experiments(options);
  result["engine"] = {{"name", "rocksdb"}};
  result["databases"] = json::array();
  if (options.needs_runs()) {
    auto kind = make_engine_kind("rocksdb-small");
    if (!kind.ok()) return kind.status();
    auto runs = run_all(**kind, experiments, options, clock);
    if (!runs.ok()) return runs.status();
    result["engine"] = (*kind)->describe();
    result["databases"] = runs->databases;
    result["runs"] = runs->runs;
    result["configurations"] = configurations_of(options, experiments);
  }
  for (const WorkloadProfile& profile : options.workloads) {
    result["workloads"].push_back(make_profile_load({.profile = profile})->describe());
  }
  for (const papers::PaperResult& each : papers::paper_results()) {
    if (each.paper != papers::kHybridCache) continue;
    result["paper"].push_back(
        {{"id", each.id},
         {"where", each.where},
         {"value", each.value},
         {"what", fmt::format("{} {}; {}", each.unit, each.quantity, each.condition)}});
  }
  result["setup"] = setup_of(options, result["runs"]);
  result["figures"] = make_figures(result);
  return result;
}

}  // namespace nvcache::hybrid_cache
