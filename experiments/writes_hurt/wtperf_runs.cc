#include "experiments/writes_hurt/wtperf_runs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/command/interrupt.h"
#include "apps/command/output_file.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/harness/child_process.h"
#include "experiments/harness/copy_folder.h"

namespace nvcache::writes_hurt {
namespace {

using nlohmann::json;

constexpr double kLoadLimitSeconds = 900;
constexpr uint32_t kScanSeconds = 10;  // of evict-btree-scan, in whole runs

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string database_name(const WtperfExperiment& experiment) {
  return fmt::format("{}.{}", experiment.workload->name, variant_name(experiment.variant));
}

class WtperfRunner {
 public:
  WtperfRunner(const Options& options, const Tools& tools, Databases& databases, const Clock& clock,
               Progress& progress, size_t total)
      : options_(options),
        tools_(tools),
        databases_(databases),
        clock_(clock),
        progress_(progress),
        total_(total) {}

  Status run(const WtperfExperiment& experiment) {
    if (experiment.workload->compressed && tools_.snappy.empty()) {
      return failed_precondition_error(fmt::format(
          "{} needs libwiredtiger_snappy.so in WiredTiger's build", experiment.workload->name));
    }
    auto text = workload_file(*experiment.workload, experiment.variant, options_.workload_dir);
    if (!text.ok()) return text.status();
    text_ = *std::move(text);
    if (Status status = load(experiment); !status.ok()) return status;
    for (uint32_t round = 1; round <= options_.rounds; ++round) {
      // Alternates the order: the first run after a change of workload must not always be the same
      // configuration's.
      const size_t count = experiment.choices.size();
      for (size_t i = 0; i < count; ++i) {
        const CacheChoice& choice = experiment.choices[round % 2 == 1 ? i : count - 1 - i];
        Status status = run_one(experiment, choice, round);
        if (is_cancelled(status)) return status;
      }
    }
    databases_.remove_runs();
    databases_.done_with(database_name(experiment));
    return ok_status();
  }

  WtperfRuns take() { return std::move(result_); }

 private:
  uint32_t seconds() const { return static_cast<uint32_t>(std::lround(options_.seconds)); }
  uint32_t warmup() const { return static_cast<uint32_t>(std::lround(options_.warmup_seconds)); }

  // A fresh folder for the files of one call of wtperf.
  StatusOr<std::string> scratch() {
    databases_.remove_runs();
    const std::string folder = databases_.run_folder();
    std::error_code error;
    if (std::filesystem::create_directory(folder, error)) return folder;
    return internal_error(fmt::format("cannot make {}: {}", folder, error.message()));
  }

  // `more`: lines after those of the workload's file.
  Status wtperf(const std::string& scratch, const std::string& home, const std::string& more,
                const std::string& config, double limit_seconds, const std::string& title) {
    const std::string file = scratch + "/run.wtperf";
    if (Status status = write_file_whole(file, text_ + more); !status.ok()) return status;
    return run_child({{tools_.wtperf, "-h", home, "-O", file, "-C", config},
                      scratch + "/run.log",
                      limit_seconds,
                      title},
                     clock_, progress_);
  }

  bool snappy(const WtperfExperiment& experiment) const { return experiment.workload->compressed; }

  Status load(const WtperfExperiment& experiment) {
    const std::string name = database_name(experiment);
    json database = {{"workload", experiment.workload->name},
                     {"variant", variant_name(experiment.variant)}};
    if (experiment.workload->load_each_time) {
      result_.databases.push_back(database);
      return ok_status();
    }
    const auto make = [&](const std::string& home) {
      Tools plain = tools_;
      plain.extension.clear();
      const auto files = scratch();
      if (!files.ok()) return files.status();
      return wtperf(*files, home, "create=true\nrun_time=0\n",
                    connection_config({}, plain, snappy(experiment), ""), kLoadLimitSeconds,
                    fmt::format("loading {}", name));
    };
    const auto loaded = databases_.load(name, text_, make, clock_);
    if (!loaded.ok()) return loaded.status();
    progress_.say(fmt::format("{}: {}", name, loaded->text()));
    if (loaded->load_seconds > 0) database["load_seconds"] = loaded->load_seconds;
    database["bytes"] = loaded->size_bytes;
    result_.databases.push_back(database);
    return ok_status();
  }

  std::string run_options(const WtperfExperiment& experiment) const {
    const bool create = experiment.workload->load_each_time;
    std::string more =
        fmt::format("create={}\nrun_time={}\nwarmup={}\n", create, seconds(), warmup());
    // wtperf refuses a period that is longer than the run.
    if (text_.find("scan_interval") != std::string::npos && seconds() < 2 * kScanSeconds) {
      more += fmt::format("scan_interval={}\n", std::max(1u, seconds() / 3));
    }
    return more;
  }

  Status run_one(const WtperfExperiment& experiment, const CacheChoice& choice, uint32_t round) {
    if (Status status = check_not_interrupted(); !status.ok()) return status;
    const std::string title = fmt::format("[{}/{}] {} {}", result_.runs.size() + 1, total_,
                                          database_name(experiment), choice.name);
    json run = {{"workload", experiment.workload->name},
                {"variant", variant_name(experiment.variant)},
                {"configuration", choice.name},
                {"round", round}};
    Status status = measure(experiment, choice, title, run);
    if (is_cancelled(status)) return status;
    if (!status.ok()) {
      run["error"] = std::string(status.message());
      progress_.say(fmt::format("{}: FAILED: {}", title, status.message()));
    }
    result_.runs.push_back(std::move(run));
    return status;
  }

  Status measure(const WtperfExperiment& experiment, const CacheChoice& choice,
                 const std::string& title, json& run) {
    const bool create = experiment.workload->load_each_time;
    const auto files = scratch();
    if (!files.ok()) return files.status();
    const std::string home = *files + "/db";
    Status status = ok_status();
    if (create) {
      std::filesystem::create_directory(home);
    } else {
      status = copy_folder(databases_.path(database_name(experiment)), home);
    }
    if (!status.ok()) return status;
    const std::string stats = *files + "/stats.json";
    const double limit =
        3 * (options_.seconds + options_.warmup_seconds) + (create ? kLoadLimitSeconds : 120);
    status = wtperf(*files, home, run_options(experiment),
                    connection_config(choice, tools_, snappy(experiment), stats), limit, title);
    if (!status.ok()) return status;
    const auto result = parse_wtperf_stat(contents(home + "/test.stat"));
    if (!result.ok()) return result.status();
    return record(experiment, *result, home, stats, title, run);
  }

  Status record(const WtperfExperiment& experiment, const WtperfResult& result,
                const std::string& home, const std::string& stats, const std::string& title,
                json& run) {
    json ops = json::object();
    std::string line;
    std::string_view types = experiment.workload->ops;
    while (!types.empty()) {
      const auto [type, rest] = split_once(types, ',');
      const std::string name(type);
      ops[name] = result.ops_per_second(name);
      line +=
          fmt::format("{}{:.0f} {}s/s", line.empty() ? "" : ", ", ops[name].get<double>(), name);
      types = rest;
    }
    run["seconds"] = result.seconds;
    run["ops"] = ops;
    run["series"] = result.series;
    run["checkpoints"] = result.checkpoints;
    run["scans"] = result.scans;
    run["database_bytes"] = folder_bytes(home);
    run["cache"] = nullptr;
    run["files"] = nullptr;
    if (!tools_.extension.empty()) {
      json found = json::parse(contents(stats), nullptr, /*allow_exceptions=*/false);
      if (!found.is_object() || found.value("format", "") != "nvcache.wiredtiger/1") {
        return internal_error("the extension left no statistics");
      }
      run["cache"] = found["cache"];
      run["files"] = found["files"];
    }
    run["metrics"] = {{"reads_per_second", result.ops_per_second("read")}};
    if (run["cache"].is_object()) {
      const double hits = run["cache"].value("hits", 0.0);
      const double misses = run["cache"].value("misses", 0.0);
      if (hits + misses > 0) run["metrics"]["tier_hit_ratio"] = hits / (hits + misses);
      if (hits + misses > 0) line += fmt::format(", hit {:.1f}%", 100 * hits / (hits + misses));
      line += ", admitted " + format_bytes(run["files"].value("admitted_bytes", uint64_t{0}));
    }
    progress_.say(fmt::format("{}: {}", title, line));
    return ok_status();
  }

  const Options& options_;
  const Tools& tools_;
  Databases& databases_;
  const Clock& clock_;
  Progress& progress_;
  const size_t total_;
  std::string text_;  // of the present workload's file
  WtperfRuns result_;
};

}  // namespace

std::vector<WtperfExperiment> plan_wtperf(const Options& options, const std::string& nvram_path) {
  std::vector<WtperfExperiment> experiments;
  for (const Workload* workload : options.workloads) {
    if (options.needs_small()) {
      experiments.push_back({workload, Variant::kSmall, figure4_choices(options)});
    }
    std::vector<CacheChoice> choices;
    if (options.needs_large()) choices = figure6_choices(options, nvram_path);
    const bool in_table1 = std::any_of(table1().begin(), table1().end(), [&](const Table1Row& row) {
      return row.workload == workload->name;
    });
    if (options.needs_table1() && in_table1) {
      for (CacheChoice& choice : table1_choices(options)) choices.push_back(std::move(choice));
    }
    if (!choices.empty()) experiments.push_back({workload, Variant::kLarge, std::move(choices)});
  }
  return experiments;
}

StatusOr<WtperfRuns> run_wtperf(const Options& options,
                                const std::vector<WtperfExperiment>& experiments,
                                const Tools& tools, Databases& databases, const Clock& clock,
                                Progress& progress) {
  size_t total = 0;
  for (const WtperfExperiment& experiment : experiments) {
    total += experiment.choices.size() * options.rounds;
  }
  WtperfRunner runner(options, tools, databases, clock, progress, total);
  for (const WtperfExperiment& experiment : experiments) {
    if (Status status = runner.run(experiment); !status.ok()) return status;
  }
  return runner.take();
}

bool has_wiredtiger_nvram(const Tools& tools, Databases& databases, const Clock& clock,
                          Progress& progress) {
  const std::string home = databases.run_folder();
  std::error_code error;
  if (!std::filesystem::create_directory(home, error)) return false;
  const std::string config = fmt::format(
      "block_cache=(enabled=true,type=nvram,size=64MB,nvram_path={})", databases.path("."));
  const ChildCommand command = {
      {tools.wtperf, "-h", home, "-o", "icount=10,run_time=0", "-C", config},
      home + "/run.log",
      60,
      "looking for WiredTiger's NVRAM cache"};
  const bool found = run_child(command, clock, progress).ok();
  databases.remove_runs();
  return found;
}

}  // namespace nvcache::writes_hurt
