#include "experiments/writes_hurt/wtperf_runs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/command/interrupt.h"
#include "apps/command/output_file.h"
#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/harness/child_process.h"
#include "experiments/harness/copy_folder.h"

namespace nvcache::writes_hurt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kLoadLimitSeconds = 900;
constexpr uint32_t kScanSeconds = 10;  // of evict-btree-scan, in whole runs

std::string contents(const std::string& path) {
  return read_file(path, /*most_bytes=*/64 << 20).value_or("");
}

// All runs of one workload and variant.
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
    workload_ = experiment.workload;
    name_ = fmt::format("{}.{}", workload_->name, variant_name(experiment.variant));
    facts_ = {{"workload", workload_->name}, {"variant", variant_name(experiment.variant)}};
    auto text = wtperf_options(*workload_, experiment.variant, options_.workload_dir);
    if (!text.ok()) return text.status();
    text_ = *std::move(text);
    if (compressed() && tools_.snappy.empty()) {
      return failed_precondition_error(
          fmt::format("{} needs libwiredtiger_snappy.so in WiredTiger's build", workload_->name));
    }
    if (Status status = load(); !status.ok()) return status;
    for (uint32_t round = 1; round <= options_.rounds; ++round) {
      // Alternates the order: the first run after a change of workload must not always be the same
      // configuration's.
      std::vector<CacheChoice> choices = experiment.choices;
      if (round % 2 == 0) std::reverse(choices.begin(), choices.end());
      for (const CacheChoice& choice : choices) {
        if (Status status = run_one(choice, round); is_cancelled(status)) return status;
      }
    }
    databases_.remove_runs();
    databases_.done_with(name_);
    return ok_status();
  }

  WtperfRuns take() { return std::move(result_); }

 private:
  bool sets(std::string_view option) const { return text_.find(option) != std::string::npos; }
  bool compressed() const { return sets("compression=\"snappy\""); }
  // When wtperf goes on with a loaded database, it takes tables for scans as rows to read.
  bool load_each_time() const { return sets("scan_icount"); }

  // A fresh folder for the files of one call of wtperf.
  StatusOr<std::string> scratch() {
    databases_.remove_runs();
    const std::string folder = databases_.run_folder();
    std::error_code error;
    if (fs::create_directory(folder, error)) return folder;
    return internal_error(fmt::format("cannot make {}: {}", folder, error.message()));
  }

  // `more`: lines after those of the workload.
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

  Status load() {
    json database = facts_;
    if (!load_each_time()) {
      const auto make = [&](const std::string& home) {
        Tools plain = tools_;
        plain.extension.clear();
        const auto files = scratch();
        if (!files.ok()) return files.status();
        return wtperf(*files, home, "create=true\nrun_time=0\n",
                      connection_config({}, plain, compressed(), ""), kLoadLimitSeconds,
                      fmt::format("loading {}", name_));
      };
      const auto loaded = databases_.load(name_, text_, make, clock_);
      if (!loaded.ok()) return loaded.status();
      progress_.say(fmt::format("{}: {}", name_, loaded->text()));
      if (loaded->load_seconds > 0) database["load_seconds"] = loaded->load_seconds;
      database["bytes"] = loaded->size_bytes;
    }
    result_.databases.push_back(database);
    return ok_status();
  }

  std::string run_options() const {
    const long seconds = std::lround(options_.seconds);
    std::string more = fmt::format("create={}\nrun_time={}\nwarmup={}\n", load_each_time(), seconds,
                                   std::lround(options_.warmup_seconds));
    // wtperf refuses a period that is longer than the run.
    if (sets("scan_interval") && seconds < 2 * kScanSeconds) {
      more += fmt::format("scan_interval={}\n", std::max(1l, seconds / 3));
    }
    return more;
  }

  Status run_one(const CacheChoice& choice, uint32_t round) {
    if (Status status = check_not_interrupted(); !status.ok()) return status;
    const std::string title =
        fmt::format("[{}/{}] {} {}", result_.runs.size() + 1, total_, name_, choice.name);
    json run = facts_;
    run["configuration"] = choice.name;
    run["round"] = round;
    Status status = measure(choice, title, run);
    if (is_cancelled(status)) return status;
    if (!status.ok()) {
      run["error"] = std::string(status.message());
      progress_.say(fmt::format("{}: FAILED: {}", title, status.message()));
    }
    result_.runs.push_back(std::move(run));
    return status;
  }

  Status measure(const CacheChoice& choice, const std::string& title, json& run) {
    const bool create = load_each_time();
    const auto files = scratch();
    if (!files.ok()) return files.status();
    const std::string home = *files + "/db";
    Status status = ok_status();
    if (create) {
      fs::create_directory(home);
    } else {
      status = copy_folder(databases_.path(name_), home);
    }
    if (!status.ok()) return status;
    const std::string stats = *files + "/stats.json";
    const double limit =
        3 * (options_.seconds + options_.warmup_seconds) + (create ? kLoadLimitSeconds : 120);
    status = wtperf(*files, home, run_options(),
                    connection_config(choice, tools_, compressed(), stats), limit, title);
    if (!status.ok()) return status;
    const auto result = parse_wtperf_stat(contents(home + "/test.stat"));
    if (!result.ok()) return result.status();
    run["database_bytes"] = folder_bytes(home);
    return record(*result, stats, title, run);
  }

  Status record(const WtperfResult& result, const std::string& stats, const std::string& title,
                json& run) {
    run["ops"] = json::object();
    std::string line;
    for (const std::string& type : workload_->reported_ops()) {
      const double rate = result.ops_per_second(type);
      run["ops"][type] = rate;
      line += fmt::format("{}{:.0f} {}s/s", line.empty() ? "" : ", ", rate, type);
    }
    run["seconds"] = result.seconds;
    run["series"] = result.series;
    run["checkpoints"] = result.count("checkpoint");
    run["scans"] = result.count("scan");
    run["metrics"] = {{"reads_per_second", result.ops_per_second("read")}};
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
    if (run["cache"].is_object()) {
      const double hits = run["cache"].value("hits", 0.0);
      const double lookups = hits + run["cache"].value("misses", 0.0);
      if (lookups > 0) {
        run["metrics"]["tier_hit_ratio"] = hits / lookups;
        line += fmt::format(", hit {:.1f}%", 100 * hits / lookups);
      }
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
  WtperfRuns result_;
  // Of the present experiment:
  const Workload* workload_ = nullptr;
  std::string name_;  // of its database
  json facts_;        // in each of its results
  std::string text_;  // its options for wtperf
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
    const auto& rows = table1();
    if (options.needs_table1() &&
        std::ranges::find(rows, workload->name, &Table1Row::workload) != rows.end()) {
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
  if (!fs::create_directory(home, error)) return false;
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
