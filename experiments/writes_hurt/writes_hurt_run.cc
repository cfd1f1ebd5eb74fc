#include "experiments/writes_hurt/writes_hurt_run.h"

#include <memory>
#include <optional>
#include <set>

#include "apps/command/progress.h"
#include "base/text.h"
#include "experiments/harness/paper_parts.h"
#include "experiments/run/ycsb_load.h"
#include "experiments/writes_hurt/configurations.h"
#include "experiments/writes_hurt/scale.h"
#include "experiments/writes_hurt/wtperf_runs.h"

namespace nvcache::writes_hurt {
namespace {

using nlohmann::json;

constexpr double kWtperfOverheadSeconds = 3.5;  // copying, opening and closing
constexpr double kYcsbOverheadSeconds = 4;
constexpr double kFigure7NvramGb[] = {64, 128, 252};

bool wants_nvram(const Options& options) {
  return options.needs_large() &&
         (options.configurations.empty() || options.configurations.contains("wt-nvram"));
}

// Those of one row of Table 3.
void plan_row(const Options& options, const YcsbRow& row, std::vector<Experiment>& plan) {
  YcsbLoadOptions ycsb;
  ycsb.workload = ycsb_workload(std::string_view(&row.letter, 1)).value();
  ycsb.records = scaled_records(row.dataset_gb);
  ycsb.seed = options.seed;
  ycsb.database = fmt::format("ycsb-{}", row.letter);
  const std::shared_ptr<const Load> load = make_ycsb_load(ycsb);
  const auto add = [&](const std::string& name, const std::string& spec, double dram_gb,
                       const json& more) {
    Experiment experiment;
    experiment.load = load;
    experiment.configuration = name;
    // Direct I/O leaves the OS nothing to cache: the engine's cache has all the DRAM.
    experiment.engine.dram_cache_bytes = scaled_bytes(dram_gb);
    experiment.engine.tier_spec = spec;
    experiment.threads = scaled_threads(row.threads);
    experiment.more = more;
    experiment.more["variant"] =
        fmt::format("{}-{:g}", more["figure"] == 7 ? "dram" : "split", dram_gb);
    plan.push_back(std::move(experiment));
  };
  if (options.figures.contains(7)) {
    add(std::string(kNone), "", kLargeDramGb, {{"figure", 7}});
    for (const double nvram_gb : kFigure7NvramGb) {
      for (const CacheChoice& choice : figure7_choices(options, nvram_gb)) {
        add(choice.name, choice.spec, kLargeDramGb, {{"figure", 7}});
      }
    }
  }
  if (!options.figures.contains(8)) return;
  for (const CostRow& split : table4()) {
    CacheChoice choice;
    choice.name = kNone;
    if (split.nvram_gb > 0) choice = figure7_choices(options, split.nvram_gb)[1];
    add(choice.name, choice.spec, split.dram_gb, {{"figure", 8}, {"nvram_gb", split.nvram_gb}});
  }
}

class Run {
 public:
  Run(const Options& options, const Clock& clock)
      : options_(options), clock_(clock), progress_(clock) {}

  StatusOr<json> run() {
    if (Status status = check_medium(options_.medium); !status.ok()) return status;
    std::optional<Tools> tools;
    if (options_.needs_wtperf()) {
      auto found = find_tools(options_.wtperf, options_.extension);
      if (!found.ok()) return found.status();
      tools = *std::move(found);
    }
    auto databases = Databases::take(options_.db, options_.keep_db);
    if (!databases.ok()) return databases.status();
    progress_.say(estimate(options_));
    if (tools) {
      if (Status status = run_with_tools(*tools, **databases); !status.ok()) return status;
    }
    if (options_.needs_ycsb()) {
      if (Status status = run_ycsb(**databases); !status.ok()) return status;
    }
    return document();
  }

 private:
  Status run_ycsb(Databases& databases) {
    auto kind = make_engine_kind(options_.engine);
    if (!kind.ok()) return kind.status();
    BenchOptions bench;
    static_cast<RunOptions&>(bench) = options_;
    bench.seconds = options_.ycsb_seconds;
    bench.warmup_seconds = options_.ycsb_warmup_seconds;
    auto ycsb = run_experiments(**kind, databases, plan_ycsb(options_), bench, clock_, progress_);
    if (!ycsb.ok()) return ycsb.status();
    ycsb_ = *std::move(ycsb);
    for (json& run : ycsb_.runs) {
      run.erase("series");
      run.erase("latency");
    }
    ycsb_engine_ = (*kind)->describe();
    return ok_status();
  }

  Status run_with_tools(const Tools& tools, Databases& databases) {
    std::string nvram_path;
    if (wants_nvram(options_)) {
      if (has_wiredtiger_nvram(tools, databases, clock_, progress_)) {
        nvram_path = databases.path(".");
      } else {
        note(
            "wt-nvram is left out: this WiredTiger was built without memkind, or the folder has "
            "no room.");
      }
    }
    experiments_ = plan_wtperf(options_, nvram_path);
    if (tools.extension.empty()) {
      note("No extension: no counters, and only what needs no nvcache.");
      for (WtperfExperiment& experiment : experiments_) {
        std::erase_if(experiment.choices,
                      [](const CacheChoice& choice) { return !choice.spec.empty(); });
      }
      std::erase_if(experiments_,
                    [](const WtperfExperiment& experiment) { return experiment.choices.empty(); });
    }
    auto runs = run_wtperf(options_, experiments_, tools, databases, clock_, progress_);
    if (!runs.ok()) return runs.status();
    wtperf_ = *std::move(runs);
    return ok_status();
  }

  void note(const std::string& text) {
    notes_.push_back(text);
    progress_.say(text);
  }

  json setup() {
    if (options_.figures.contains(7)) {
      notes_.push_back(
          "Memory Mode: not run; it needs the hardware, and is left to the simulator.");
    }
    std::string names;
    for (const Workload* workload : options_.workloads) {
      names += fmt::format("{}{}", names.empty() ? "" : ",", workload->name);
    }
    return {{"engine", options_.engine},
            {"figures", options_.figures},
            {"tables", options_.tables},
            {"workloads", names},
            {"ycsb", options_.ycsb},
            {"medium", options_.medium},
            {"emulated", options_.emulated()},
            {"rounds", options_.rounds},
            {"seconds", options_.seconds},
            {"warmup_seconds", options_.warmup_seconds},
            {"ycsb_seconds", options_.needs_ycsb() ? options_.ycsb_seconds : 0},
            {"ycsb_warmup_seconds", options_.ycsb_warmup_seconds},
            {"size_factor", kSizeFactor},
            {"time_factor", kTimeFactor},
            {"thread_factor", kThreadFactor},
            {"nvcache_bytes", scaled_bytes(kNvcacheGb)},
            {"small_dram_bytes", scaled_bytes(kSmallDramGb)},
            {"large_dram_bytes", scaled_bytes(kLargeDramGb)},
            {"notes", notes_}};
  }

  json configurations() const {
    json list = json::array();
    std::set<std::string> seen;
    for (const WtperfExperiment& experiment : experiments_) {
      for (const CacheChoice& choice : experiment.choices) {
        if (!seen.insert(choice.name).second) continue;
        list.push_back({{"name", choice.name},
                        {"what", choice.what},
                        {"spec", choice.spec.empty() ? "none" : choice.spec},
                        {"writes", choice.writes},
                        {"block_cache", choice.block_cache},
                        {"medium", choice.spec.empty() ? "" : options_.medium},
                        {"emulated", !choice.spec.empty() && options_.emulated()}});
      }
    }
    if (options_.needs_ycsb()) {
      for (const CacheChoice& choice : figure7_choices(options_, kNvcacheGb)) {
        list.push_back({{"name", "ycsb " + choice.name},
                        {"what", choice.what},
                        {"spec", choice.spec},
                        {"medium", options_.medium},
                        {"emulated", options_.emulated()}});
      }
    }
    return list;
  }

  json document() {
    json databases = wtperf_.databases;
    for (json& database : ycsb_.databases) databases.push_back(database);
    json result = paper_document("nvcache.paper/1", options_.command);
    result["setup"] = setup();
    result["configurations"] = configurations();
    result["databases"] = databases;
    result["runs"] = wtperf_.runs;
    for (json& run : ycsb_.runs) result["runs"].push_back(std::move(run));
    result["ycsb_engine"] = ycsb_engine_;
    result["figures"] = make_figures(result);
    return result;
  }

  const Options& options_;
  const Clock& clock_;
  Progress progress_;
  std::vector<std::string> notes_;
  std::vector<WtperfExperiment> experiments_;
  WtperfRuns wtperf_;
  ExperimentRuns ycsb_;
  json ycsb_engine_;
};

}  // namespace

std::vector<Experiment> plan_ycsb(const Options& options) {
  std::vector<Experiment> plan;
  for (const YcsbRow& row : table3()) {
    if (options.ycsb.find(row.letter) != std::string::npos) plan_row(options, row, plan);
  }
  return plan;
}

std::string estimate(const Options& options) {
  size_t wtperf = 0;
  if (options.needs_wtperf()) {
    for (const WtperfExperiment& experiment :
         plan_wtperf(options, wants_nvram(options) ? "." : "")) {
      wtperf += experiment.choices.size() * options.rounds;
    }
  }
  const size_t ycsb = plan_ycsb(options).size() * options.rounds;
  const double seconds =
      static_cast<double>(wtperf) *
          (options.seconds + options.warmup_seconds + kWtperfOverheadSeconds) +
      static_cast<double>(ycsb) *
          (options.ycsb_seconds + options.ycsb_warmup_seconds + kYcsbOverheadSeconds);
  return fmt::format("{} runs of wtperf and {} of YCSB: about {:.0f} minutes, loading apart",
                     wtperf, ycsb, seconds / 60);
}

StatusOr<json> run_writes_hurt(const Options& options, const Clock& clock) {
  return Run(options, clock).run();
}

}  // namespace nvcache::writes_hurt
