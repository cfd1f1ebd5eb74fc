#include "experiments/simulate/simulate_command.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "apps/command/command_page.h"
#include "apps/command/interrupt.h"
#include "apps/command/on_command.h"
#include "apps/command/output_file.h"
#include "apps/command/progress.h"
#include "base/clock.h"
#include "base/print.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/simulate/engines.h"
#include "experiments/simulate/simulate_report.h"
#include "experiments/simulate/study.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using simulate::StudyOptions;

constexpr char kExamples[] = R"(Examples:
  # YCSB C with 32 GiB of DRAM: no NVRAM, NVCache, Memory Mode
  nvcache bench simulate --workload c --config none,nvcache,memory-mode --nvram 64GiB,252GiB

  # Memory Mode with larger page caches, three seeds each
  nvcache bench simulate --workload a,c --config memory-mode,memory-mode:80GiB --nvram 128GiB --rounds 3

  # Table 1: does eviction pay?
  nvcache bench simulate --workload evict-btree,evict-btree-scan --nvram 64GiB \
    --config none,eager,no-eviction,nvcache

  # memcached's items in DRAM or NVRAM, 8 clients
  nvcache bench simulate --engine memcached --workload sys,var --clients 8 --minutes 5

  # *Hybrid Cache*: DRAM alone, DRAM and SCM, SCM alone, Memory Mode
  nvcache bench simulate --engine rocksdb --workload whatsapp \
    --config 64-0/dram-only,32-256/dram-first,32-256/scm-only,32-256/memory-mode

  # your own machine: a network disk, 64 clients on 16 cores, CXL memory
  nvcache bench simulate --workload b --dataset 500GiB --dram 64GiB --nvram 256GiB --medium cxl \
    --storage network --clients 64 --cores 16 --config none,auto --json out.json

All figures are SIMULATED: docs/results/simulate.md says what is modelled, and what is not.
Sizes are scaled down by --scale, with every period of time; 1 simulates the whole machine, some
minutes and some GiB of memory for each.
Exit codes: 0 done; 1 failed; 2 the command line is wrong; 130 interrupted (nothing is written).)";

// The options as text, before they are understood.
struct RawOptions {
  std::vector<std::string> workloads;  // empty: the engine's default
  std::vector<std::string> configurations;
  std::vector<std::string> nvram{"64GiB"};
  std::string dram = "32GiB";
  std::string dataset;
  std::string page_cache;
  std::string tier;
};

struct Outputs {
  std::string json_path;
  std::string report_path;
  std::string command;
};

std::vector<std::string_view> names_of(const std::vector<simulate::Named>& rows) {
  std::vector<std::string_view> names;
  for (const simulate::Named& row : rows) names.push_back(row.name);
  return names;
}

std::string help_of(const std::vector<simulate::Named>& rows) {
  std::string text;
  for (const simulate::Named& row : rows) text += fmt::format("  {:<18} {}\n", row.name, row.help);
  return text;
}

std::string help_of_engines() {
  std::string text;
  for (const simulate::Named& engine : simulate::engines()) {
    text += fmt::format("{}: {}\nWorkloads: {}\nConfigurations (--config):\n{}\n", engine.name,
                        engine.help, fmt::join(names_of(simulate::workloads(engine.name)), ", "),
                        help_of(simulate::configurations(engine.name)));
  }
  return text;
}

// "c; sys,var of memcached": the default of the first engine, and of those that have another.
template <typename Text>
std::string default_of_engines(Text text, std::string_view other_format) {
  const std::string first = text(*simulate::kEngines.front());
  std::string all = first;
  for (const simulate::EngineRow* const row : simulate::kEngines) {
    if (text(*row) == first) continue;
    all += fmt::format(fmt::runtime(other_format), fmt::arg("engine", row->name),
                       fmt::arg("default", text(*row)));
  }
  return all;
}

std::string default_workloads() {
  return default_of_engines(
      [](const simulate::EngineRow& row) {
        return fmt::format("{}", fmt::join(row.default_workloads, ","));
      },
      "; {default} of {engine}");
}

std::string default_storages() {
  return default_of_engines([](const simulate::EngineRow& row) { return std::string(row.storage); },
                            "; with {engine}, {default}");
}

std::string default_cores() {
  return default_of_engines(
      [](const simulate::EngineRow& row) { return fmt::format("{}", row.cores); },
      ", with {engine} {default}");
}

void define_what(CLI::App& app, StudyOptions& study, RawOptions& raw) {
  app.add_option("--engine", study.base.engine, "The storage engine, or the store")
      ->capture_default_str()
      ->type_name(choices(names_of(simulate::engines())));
  app.add_option("--workload", raw.workloads,
                 "Of the engine's below, a to e are YCSB's; default: " + default_workloads())
      ->delimiter(',');
  app.add_option("--config", raw.configurations,
                 "The engine's below, by default some of them; for wiredtiger NAME:SIZE sets its "
                 "page cache, too")
      ->delimiter(',');
  app.add_option("--nvram", raw.nvram, "Sizes of the NVRAM")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("SIZE");
  app.add_option("--dram", raw.dram, "Size of the DRAM; with rocksdb --config has all sizes")
      ->capture_default_str()
      ->type_name("SIZE");
  app.add_option("--dataset", raw.dataset,
                 "Size on the disk; default: *Writes Hurt*'s, Tables 2 and 3, or the profile's")
      ->type_name("SIZE");
  app.add_option("--page-cache", raw.page_cache,
                 "The engine's page cache; for YCSB by default half of the DRAM, 40 GiB at most")
      ->type_name("SIZE");
  app.add_option("--tier", raw.tier, "How much of the NVRAM the tier uses; default: all")
      ->type_name("SIZE");
  app.add_option("--medium", study.base.medium, "Of the NVRAM: a profile of nvcache calibrate")
      ->capture_default_str()
      ->type_name("{optane,dram,cxl,flash}");
  app.add_option("--storage", study.base.storage, "The disk; default: " + default_storages())
      ->type_name(choices(names_of(simulate::storages())));
}

void define_how(CLI::App& app, StudyOptions& study, Outputs& outputs) {
  app.add_option("--clients", study.base.clients,
                 "Clients; default: the workload's (*Writes Hurt*, Tables 2 and 3); with rocksdb, "
                 "one for each hardware thread (48)");
  app.add_option("--cores", study.base.cores,
                 "Cores that they run on; default: the paper's, " + default_cores());
  app.add_option("--minutes", study.base.minutes, "Length of a run, caches empty at its start")
      ->capture_default_str();
  app.add_option("--scale", study.base.scale, "Simulate 1/N of all sizes and periods")
      ->capture_default_str();
  app.add_option("--seed", study.base.seed, "Seed of keys, operations and places in memory")
      ->capture_default_str();
  app.add_option("--rounds", study.rounds, "Runs of each, with seeds one after the other")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--jobs", study.jobs, "Runs at a time; default: as many as there are processors")
      ->check(CLI::Range(1, 256));
  app.add_option("--json", outputs.json_path, "Write all results here")->type_name("FILE");
  app.add_option("--report", outputs.report_path,
                 "Write a page in Markdown here: tables, models, parameters")
      ->type_name("FILE");
}

Status set_size(const char* option, const std::string& text, uint64_t* bytes) {
  if (text.empty()) return ok_status();
  const StatusOr<uint64_t> size = parse_size_bytes(text);
  if (!size.ok()) return invalid_argument("{}: {}", option, size.status().message());
  *bytes = *size;
  return ok_status();
}

void fill_in(std::span<const std::string_view> defaults, std::vector<std::string>* given) {
  if (given->empty()) given->assign(defaults.begin(), defaults.end());
}

Status understand(const RawOptions& raw, StudyOptions& study) {
  study.workloads = raw.workloads;
  study.configurations = raw.configurations;
  if (const simulate::EngineRow* const row = simulate::find_engine(study.base.engine)) {
    fill_in(row->default_workloads, &study.workloads);
    fill_in(row->default_configurations, &study.configurations);
  }
  if (study.workloads.empty()) study.workloads = {"c"};  // of an engine that there is not
  if (study.configurations.empty()) study.configurations = {"none"};
  Status status = set_size("--dram", raw.dram, &study.base.dram_bytes);
  if (status.ok()) status = set_size("--dataset", raw.dataset, &study.base.dataset_bytes);
  if (status.ok()) status = set_size("--page-cache", raw.page_cache, &study.base.page_cache_bytes);
  if (status.ok()) status = set_size("--tier", raw.tier, &study.base.tier_bytes);
  for (const std::string& text : raw.nvram) {
    study.nvram_bytes.push_back(0);
    if (status.ok()) status = set_size("--nvram", text, &study.nvram_bytes.back());
  }
  if (study.jobs == 0) study.jobs = std::max(1u, std::thread::hardware_concurrency());
  return status;
}

Status run(const StudyOptions& study, const Outputs& outputs) {
  Status status = check_writable("--json", outputs.json_path);
  if (status.ok()) status = check_writable("--report", outputs.report_path);
  if (!status.ok()) return status;
  auto runs = simulate::plan(study);
  if (!runs.ok()) return runs.status();
  {
    Progress progress(system_clock());
    status = simulate::carry_out(*runs, study.jobs, [&](double share) {
      progress.update(share, fmt::format("{} simulations", runs->size()));
      return check_not_interrupted();
    });
  }
  if (!status.ok()) return status;
  if (!outputs.json_path.empty()) {
    const std::string text = simulate::document(*runs, outputs.command).dump(1) + "\n";
    if (status = write_file_whole(outputs.json_path, text); !status.ok()) return status;
  }
  if (!outputs.report_path.empty()) {
    status = write_file_whole(outputs.report_path, simulate::page(*runs, outputs.command));
    if (!status.ok()) return status;
  }
  print_to(stdout, "{}", simulate::text_tables(*runs));
  return ok_status();
}

}  // namespace

void add_simulate_command(CLI::App& group, const std::string& command) {
  CLI::App* app = group.add_subcommand(
      "simulate", "An engine, a machine and a second tier of any size, simulated");
  app->footer(fmt::format("{}Disks (--storage):\n{}\n{}", help_of_engines(),
                          help_of(simulate::storages()), kExamples));
  auto study = std::make_shared<StudyOptions>();
  study->jobs = 0;
  auto raw = std::make_shared<RawOptions>();
  auto outputs = std::make_shared<Outputs>();
  outputs->command = command;
  define_what(*app, *study, *raw);
  define_how(*app, *study, *outputs);
  on_command(*app, "nvcache bench simulate", [study, raw, outputs] {
    const Status status = understand(*raw, *study);
    return status.ok() ? run(*study, *outputs) : status;
  });
}

}  // namespace nvcache
