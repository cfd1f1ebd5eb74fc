#include "experiments/writes_hurt/writes_hurt_run.h"

#include <memory>
#include <optional>
#include <set>

#include "apps/command/machine.h"
#include "apps/command/progress.h"
#include "base/text.h"
#include "experiments/writes_hurt/configurations.h"
#include "experiments/writes_hurt/scale.h"
#include "experiments/writes_hurt/work_folder.h"
#include "experiments/writes_hurt/writes_hurt_figures.h"
#include "experiments/writes_hurt/wtperf_runs.h"
#include "experiments/writes_hurt/ycsb_runs.h"
#include "nlohmann/json.hpp"
#include "nvcache/block_cache.h"

namespace nvcache::writes_hurt {
namespace {

using nlohmann::json;

constexpr double kWtperfOverheadSeconds = 3.5;  // copying, opening and closing
constexpr double kYcsbOverheadSeconds = 4;

// A mistake in --medium is found before anything is loaded.
Status check_medium(const Options& options) {
  const auto cache =
      open_block_cache(fmt::format("nvcache://?size=1MiB&medium={}", options.medium));
  if (cache.ok()) return ok_status();
  return invalid_argument("--medium {}: {}", options.medium, cache.status().message());
}

bool wants_nvram(const Options& options) {
  return options.needs_large() &&
         (options.configurations.empty() || options.configurations.contains("wt-nvram"));
}

class Run {
 public:
  Run(const Options& options, const Clock& clock)
      : options_(options), clock_(clock), progress_(clock) {}

  StatusOr<json> run() {
    if (Status status = check_medium(options_); !status.ok()) return status;
    std::optional<Tools> tools;
    if (options_.needs_wtperf()) {
      auto found = find_tools(options_.wtperf, options_.extension);
      if (!found.ok()) return found.status();
      tools = *std::move(found);
    }
    auto folder = WorkFolder::take(options_);
    if (!folder.ok()) return folder.status();
    progress_.say(estimate(options_));
    if (tools) {
      if (Status status = run_wtperf(*tools, **folder); !status.ok()) return status;
    }
    if (options_.needs_ycsb()) {
      auto ycsb = run_ycsb(options_, **folder, clock_);
      if (!ycsb.ok()) return ycsb.status();
      ycsb_ = *std::move(ycsb);
    }
    return document();
  }

 private:
  Status run_wtperf(const Tools& tools, WorkFolder& folder) {
    std::string nvram_path;
    if (wants_nvram(options_)) {
      if (has_wiredtiger_nvram(tools, folder, clock_, progress_)) {
        nvram_path = folder.path(".");
      } else {
        note(
            "wt-nvram is left out: this WiredTiger was built without memkind, or the folder has "
            "no room.");
      }
    }
    experiments_ = plan_experiments(options_, nvram_path);
    if (tools.extension.empty()) {
      note("No extension: no counters, and only what needs no nvcache.");
      for (Experiment& experiment : experiments_) {
        std::erase_if(experiment.choices,
                      [](const CacheChoice& choice) { return !choice.spec.empty(); });
      }
      std::erase_if(experiments_,
                    [](const Experiment& experiment) { return experiment.choices.empty(); });
    }
    auto runs = run_experiments(options_, experiments_, tools, folder, clock_, progress_);
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
            {"ycsb_seconds", options_.ycsb_seconds},
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
    for (const Experiment& experiment : experiments_) {
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
    json result = {{"kind", "paper"},
                   {"schema", 1},
                   {"format", "nvcache.paper/1"},
                   {"nvcache", NVCACHE_VERSION},
                   {"command", options_.command},
                   {"finished", utc_now()},
                   {"machine", machine_facts()},
                   {"setup", setup()},
                   {"configurations", configurations()},
                   {"databases", databases},
                   {"runs", wtperf_.runs},
                   {"ycsb_engine", ycsb_.engine},
                   {"ycsb_runs", ycsb_.runs}};
    result["figures"] = make_figures(result);
    return result;
  }

  const Options& options_;
  const Clock& clock_;
  Progress progress_;
  std::vector<std::string> notes_;
  std::vector<Experiment> experiments_;
  WtperfRuns wtperf_;
  YcsbRuns ycsb_;
};

}  // namespace

std::string estimate(const Options& options) {
  size_t wtperf = 0;
  if (options.needs_wtperf()) {
    for (const Experiment& experiment :
         plan_experiments(options, wants_nvram(options) ? "." : "")) {
      wtperf += experiment.choices.size() * options.rounds;
    }
  }
  size_t ycsb = 0;
  if (options.figures.contains(7)) ycsb += 7 * options.ycsb.size() * options.rounds;
  if (options.figures.contains(8)) ycsb += table4().size() * options.ycsb.size() * options.rounds;
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
