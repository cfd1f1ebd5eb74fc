#include "experiments/writes_hurt/writes_hurt_command.h"

#include <algorithm>
#include <memory>

#include "apps/command/command_page.h"
#include "apps/command/on_command.h"
#include "base/text.h"
#include "experiments/engines/engine.h"
#include "experiments/harness/emulated_name.h"
#include "experiments/harness/paper_parts.h"
#include "experiments/harness/result_files.h"
#include "experiments/writes_hurt/configurations.h"
#include "experiments/writes_hurt/writes_hurt_run.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using writes_hurt::Options;

constexpr char kExamples[] = R"(Examples:
  # every figure and table, briefly: about a quarter of an hour
  nvcache bench writes-hurt --quick --json quick.json --html quick.html

  # Figure 6 and Table 2 for two workloads, on emulated persistent memory
  nvcache bench writes-hurt --figures 6 --tables 2 --workloads evict-btree,update-grow-stress \
    --configurations nvcache,admit-all

  # everything, with an NVMe drive as the medium; the databases stay for the next time
  nvcache bench writes-hurt --medium file:/mnt/nvme/tier,io=direct --db /mnt/nvme/writes-hurt --keep-db

  # only YCSB
  nvcache bench writes-hurt --figures 7,8 --workloads ycsb-a,ycsb-c

Sizes are those of *Writes Hurt* divided by 256 (docs/results/writes_hurt_scale.md). Memory Mode
is not run.
Exit codes: 0 done; 1 a run failed (the others are reported); 2 the command line is wrong;
130 interrupted (temporary databases are removed, nothing is written).)";

// The options as text, before they are understood.
struct RawOptions {
  PaperParts figures{4, 8};
  PaperParts tables{1, 4};
  std::vector<std::string> workloads;
  std::vector<std::string> configurations;
  bool quick = false;
};

void define_what(CLI::App& app, Options& options, RawOptions& raw) {
  app.add_option("--engine", options.engine, "Storage engine; rocksdb has only Figures 7 and 8")
      ->capture_default_str()
      ->type_name("{wiredtiger,rocksdb}");
  raw.figures.define(app, "--figures", "Figures; default: all, or none if --tables is given");
  raw.tables.define(app, "--tables", "Tables; default: all, or none if --figures is given");
  app.add_option("--workloads", raw.workloads,
                 "Workloads: the ten in-house ones and ycsb-a to ycsb-e; default: all")
      ->delimiter(',');
  app.add_option("--configurations", raw.configurations,
                 "Configurations of Figure 6 and Table 2, beside none: " +
                     fmt::format("{}", fmt::join(writes_hurt::figure6_names(), ",")))
      ->delimiter(',')
      ->type_name(choices(writes_hurt::figure6_names()));
  app.add_option("--medium", options.medium, "Medium of nvcache, as in docs/guide/configuration.md")
      ->capture_default_str();
  app.add_flag("--quick", raw.quick,
               "One short round with only nvcache and none, YCSB A and C; an option given wins");
}

void define_how(CLI::App& app, Options& options) {
  define_run_times(app, options, 2.0);
  app.add_option("--ycsb-seconds", options.ycsb_seconds, "Measured seconds of each run of YCSB")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  app.add_option("--ycsb-warmup", options.ycsb_warmup_seconds, "Seconds before them")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
}

void define_where(CLI::App& app, Options& options) {
  app.add_option("--wtperf", options.wtperf, "WiredTiger's wtperf; default: where it was built")
      ->type_name("FILE");
  app.add_option("--extension", options.extension,
                 "libnvcache_wiredtiger.so, or none; default: the one built or installed with "
                 "this command")
      ->type_name("FILE");
  app.add_option("--workload-dir", options.workload_dir,
                 "Folder with NAME.small.wtperf and NAME.large.wtperf, instead of those built in")
      ->type_name("FOLDER");
  define_run_files(app, options);
}

Status take_workloads(const RawOptions& raw, Options& options) {
  for (const std::string& name : raw.workloads) {
    if (name.size() == 6 && name.starts_with("ycsb-") && name[5] >= 'a' && name[5] <= 'e') {
      if (options.ycsb.find(name[5]) == std::string::npos) options.ycsb += name[5];
      continue;
    }
    const auto workload = writes_hurt::find_workload(name);
    if (!workload.ok()) return workload.status();
    if (std::find(options.workloads.begin(), options.workloads.end(), *workload) ==
        options.workloads.end()) {
      options.workloads.push_back(*workload);
    }
  }
  if (!raw.workloads.empty()) return ok_status();
  for (const writes_hurt::Workload& workload : writes_hurt::workloads())
    options.workloads.push_back(&workload);
  options.ycsb = raw.quick ? "ac" : "abcde";
  return ok_status();
}

Status take_configurations(const RawOptions& raw, Options& options) {
  const auto names = writes_hurt::figure6_names();
  for (const std::string& name : raw.configurations) {
    if (name != writes_hurt::kNone && std::find(names.begin(), names.end(), name) == names.end()) {
      return invalid_argument("--configurations: no {}; allowed are {}", name,
                              fmt::join(names, ", "));
    }
    options.configurations.insert(name);
  }
  if (options.configurations.empty() && raw.quick) options.configurations = {"nvcache"};
  return ok_status();
}

void shorten(const CLI::App& app, Options& options) {
  set_unless_given(app, "--rounds", options.rounds, 1u);
  set_unless_given(app, "--seconds", options.seconds, 4.0);
  set_unless_given(app, "--warmup", options.warmup_seconds, 2.0);
  set_unless_given(app, "--ycsb-seconds", options.ycsb_seconds, 3.0);
  set_unless_given(app, "--ycsb-warmup", options.ycsb_warmup_seconds, 3.0);
}

Status check_engine(const Options& options) {
  if (options.engine != "wiredtiger" && options.engine != "rocksdb") {
    return invalid_argument("--engine {}: allowed are wiredtiger and rocksdb", options.engine);
  }
  if (options.engine != "wiredtiger" && options.needs_wtperf()) {
    return invalid_argument(
        "--engine {}: Figures 4 to 6 and Tables 1 and 2 are of wiredtiger; give --figures 7,8",
        options.engine);
  }
  if (options.needs_ycsb() && !options.ycsb.empty()) {
    if (auto kind = make_engine_kind(options.engine); !kind.ok()) return kind.status();
  }
  return options.check();
}

Status understand(const CLI::App& app, const RawOptions& raw, Options& options) {
  const bool all = !raw.figures.given() && !raw.tables.given();
  Status status = raw.figures.take(all, &options.figures);
  if (status.ok()) status = raw.tables.take(all, &options.tables);
  if (status.ok()) status = take_workloads(raw, options);
  if (status.ok()) status = take_configurations(raw, options);
  if (!status.ok()) return status;
  if (raw.quick) shorten(app, options);
  options.medium = emulated_name(options.medium);
  return check_engine(options);
}

Status bench(const Options& options) {
  const auto document = writes_hurt::run_writes_hurt(options, system_clock());
  if (!document.ok()) return document.status();
  return publish(*document, options.files);
}

}  // namespace

void add_writes_hurt_command(CLI::App& group, const std::string& command) {
  CLI::App* app = group.add_subcommand(
      "writes-hurt",
      "The figures and tables of *Writes Hurt* (SoCC '22) on WiredTiger, scaled down");
  app->footer(kExamples);
  auto options = std::make_shared<Options>();
  auto raw = std::make_shared<RawOptions>();
  options->command = command;
  define_what(*app, *options, *raw);
  define_how(*app, *options);
  define_where(*app, *options);
  on_command(*app, "nvcache bench writes-hurt", [app, options, raw] {
    const Status status = understand(*app, *raw, *options);
    return status.ok() ? bench(*options) : status;
  });
}

}  // namespace nvcache
