#include "experiments/hybrid_cache/hybrid_cache_command.h"

#include <memory>
#include <vector>

#include "apps/command/command_page.h"
#include "apps/command/on_command.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/harness/paper_parts.h"
#include "experiments/harness/result_files.h"
#include "experiments/hybrid_cache/hybrid_cache_run.h"
#include "experiments/hybrid_cache/servers.h"
#include "experiments/run/profile_files.h"

namespace nvcache {
namespace {

using hybrid_cache::Options;

constexpr char kExamples[] = R"(Examples:
  # every figure and table, briefly and small: about three minutes
  nvcache bench hybrid-cache --quick --json quick.json --html quick.html

  # Figures 9 and 11 on three policies
  nvcache bench hybrid-cache --figures 9,11 --policies scm_only,dram_first,scm_first_6

  # everything, with the costs of CXL memory; the databases stay for the next time
  nvcache bench hybrid-cache --medium emulated:cxl --db /mnt/nvme/hybrid --keep-db

  # only the costs, without a run
  nvcache bench hybrid-cache --tables 4

A GB of *Hybrid Cache* is 2 MiB here (--scale); all sizes shrink alike. SCM and flash are
EMULATED: a wait for SCM keeps a core busy, a wait for flash sleeps. Run it on an idle machine.
docs/results/hybrid_cache.md says how workloads and servers are imitated.
Exit codes: 0 done; 1 a run failed (the others are reported); 2 the command line is wrong;
130 interrupted (temporary databases are removed, nothing is written).)";

constexpr char kWorkloads[] = "whatsapp,tectonic,laser";
constexpr uint64_t kQuickGbBytes = 256 << 10;

// The options as text, before they are understood.
struct RawOptions {
  PaperParts figures{9, 13};
  PaperParts tables{4, 5};
  std::vector<std::string> workloads{"whatsapp", "tectonic", "laser"};
  std::vector<std::string> policies;
  std::string scale = "2MiB";
  bool quick = false;
};

void define_what(CLI::App& app, Options& options, RawOptions& raw) {
  std::vector<std::string> names;
  for (const hybrid_cache::Policy& policy : hybrid_cache::policies()) {
    names.emplace_back(policy.name);
  }
  raw.figures.define(app, "--figures", "Figures; default: all, or none if --tables is given");
  raw.tables.define(app, "--tables", "Tables; default: all, or none if --figures is given");
  app.add_option("--workloads", raw.workloads,
                 fmt::format("Workloads: {}, or files; Figures 9 and 11 run the first", kWorkloads))
      ->delimiter(',')
      ->capture_default_str()
      ->type_name(fmt::format("{{{}}}", kWorkloads));
  app.add_option("--policies", raw.policies, "Policies of Figure 9; default: all")
      ->delimiter(',')
      ->type_name(choices(names));
  app.add_option("--medium", options.medium, "Medium of SCM, as in docs/guide/configuration.md")
      ->capture_default_str();
  app.add_option(
         "--storage", options.storage,
         "Storage of SST files: emulated:PROFILE[,load=N] (each client stands for N), or disk")
      ->capture_default_str();
  app.add_option("--scale", raw.scale, "Size here of a GB of *Hybrid Cache*")
      ->capture_default_str()
      ->type_name("SIZE");
  app.add_flag("--quick", raw.quick,
               "One short round at an eighth of the size; an option given wins");
}

void define_how(CLI::App& app, Options& options) {
  app.add_option("--threads", options.threads, "Client threads; default: each workload's")
      ->check(CLI::Range(1, 256));
  define_run_times(app, options);
  define_seed(app, options);
  define_run_files(app, options);
}

Status take_workloads(const RawOptions& raw, Options& options) {
  for (const std::string& name : raw.workloads) {
    auto profile = find_workload_profile(name);
    if (!profile.ok()) {
      return invalid_argument("--workloads: {}", profile.status().message());
    }
    for (const WorkloadProfile& other : options.workloads) {
      if (other.name == profile->name) {
        return invalid_argument("--workloads: {} is given twice", profile->name);
      }
    }
    options.workloads.push_back(*std::move(profile));
  }
  for (const std::string& name : raw.policies) {
    const auto policy = hybrid_cache::find_policy(name);
    if (!policy.ok()) return policy.status();
    options.policies.insert(name);
  }
  return ok_status();
}

Status take_scale(const RawOptions& raw, Options& options) {
  const auto scale = parse_size_bytes(raw.scale);
  if (!scale.ok()) return invalid_argument("--scale: {}", scale.status().message());
  if (*scale < (16u << 10) || *scale > (1ull << 30)) {
    return invalid_argument("--scale {}: allowed are 16KiB to 1GiB", raw.scale);
  }
  options.gb_bytes = *scale;
  return ok_status();
}

void shorten(const CLI::App& app, Options& options) {
  set_unless_given(app, "--rounds", options.rounds, 1u);
  set_unless_given(app, "--seconds", options.seconds, 2.0);
  set_unless_given(app, "--warmup", options.warmup_seconds, 3.0);
  set_unless_given(app, "--scale", options.gb_bytes, kQuickGbBytes);
}

Status understand(const CLI::App& app, const RawOptions& raw, Options& options) {
  const bool all = !raw.figures.given() && !raw.tables.given();
  Status status = raw.figures.take(all, &options.figures);
  if (status.ok()) status = raw.tables.take(all, &options.tables);
  if (status.ok()) status = take_workloads(raw, options);
  if (status.ok()) status = take_scale(raw, options);
  if (!status.ok()) return status;
  if (raw.quick) shorten(app, options);
  options.medium = emulated_name(options.medium);
  options.storage = emulated_name(options.storage);
  return options.check();
}

Status bench(const Options& options) {
  const auto document = hybrid_cache::run_hybrid_cache(options, system_clock());
  if (!document.ok()) return document.status();
  return publish(*document, options.files);
}

}  // namespace

void add_hybrid_cache_command(CLI::App& group, const std::string& command) {
  CLI::App* app = group.add_subcommand(
      "hybrid-cache", "The evaluation of *Hybrid Cache* (ATC '21) on RocksDB, scaled down");
  app->footer(kExamples);
  auto options = std::make_shared<Options>();
  auto raw = std::make_shared<RawOptions>();
  options->command = command;
  define_what(*app, *options, *raw);
  define_how(*app, *options);
  on_command(*app, "nvcache bench hybrid-cache", [app, options, raw] {
    const Status status = understand(*app, *raw, *options);
    return status.ok() ? bench(*options) : status;
  });
}

}  // namespace nvcache
