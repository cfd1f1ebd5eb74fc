#include "experiments/nvmcached/nvmcached_command.h"

#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "CLI/CLI.hpp"
#include "apps/command/on_command.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/harness/emulated_name.h"
#include "experiments/harness/paper_parts.h"
#include "experiments/harness/result_files.h"
#include "experiments/nvmcached/nvmcached_options.h"
#include "experiments/nvmcached/nvmcached_run.h"
#include "experiments/nvmcached/system.h"
#include "spec/spec.h"

namespace nvcache {
namespace {

using nvmcached::Options;

constexpr char kExamples[] = R"(Examples:
  # Figures 3, 4 and 5, small and brief: some ten seconds
  nvcache bench nvmcached --quick --json quick.json --html quick.html

  # Figure 5: the five traces, NVMcached over MC-NVM
  nvcache bench nvmcached --figures 5

  # only the crash, in a cache of 1 GiB
  nvcache bench nvmcached --figures 3 --size 1GiB

  # Figure 4 for values of 100 bytes on another medium
  nvcache bench nvmcached --figures 4 --values 100 --media emulated:cxl

  # 10 million items, a process that is killed, and how soon the next one serves
  nvcache bench nvmcached --restart

All four systems are the same store with another durability= setting: MC-DRAM volatile, MC-NVM
each, MC-NVLRU each_lru, NVMcached cache. The media of Figures 4 and 5 are EMULATED: the time that
the thread would have waited for them is added to its processor time.
docs/results/nvmcached.md says what is emulated, and how.
Exit codes: 0 done; 1 a run failed; 2 the command line is wrong; 130 interrupted (nothing is
written, files of --restart are removed).)";

constexpr uint64_t kLeastCacheBytes = 8 << 20;

// The options as text, before they are understood.
struct RawOptions {
  PaperParts figures{3, 5};
  std::vector<std::string> trace_names;
  std::string traces_file;
  std::string size = "128MiB";
  std::string write_cache;
  bool quick = false;
};

void define_what(CLI::App& app, Options& options, RawOptions& raw) {
  raw.figures.define(app, "--figures", "Figures; default: all, if no --restart");
  app.add_flag("--restart", options.restart,
               "Fill a file, kill the process, and open the file again");
  app.add_option("--items", options.restart_items, "Items of --restart")
      ->check(CLI::Range(uint64_t{1000}, uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--media", options.media, "Media of Figures 4 and 5: emulated:PROFILE")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--traces", raw.trace_names,
                 "Traces of Figures 3 and 5; default: all of APP,USR,ETC,SYS,VAR")
      ->delimiter(',')
      ->type_name("{APP,USR,ETC,SYS,VAR}");
  app.add_option(
         "--traces-file", raw.traces_file,
         "File with their parameters; default: the built-in experiments/workload/kv_traces.txt")
      ->type_name("FILE");
  app.add_option("--values", options.value_bytes, "Bytes of a value in Figure 4")
      ->delimiter(',')
      ->check(CLI::Range(8u, 65536u))
      ->capture_default_str();
  app.add_option("--mixes", options.get_percents,
                 "Share of GETs in Figure 4, in %; the rest are SETs")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--size", raw.size, "Size of each system's cache; 64 GB in *NVMcached*")
      ->capture_default_str()
      ->type_name("SIZE");
  app.add_option(
         "--write-cache", raw.write_cache,
         "Write cache in DRAM of Figure 3's stores; default: --size / 64. The list of 1024 keys in "
         "*NVMcached* is next to nothing beside 64 GB: 0 leaves it out")
      ->type_name("SIZE");
  app.add_flag("--quick", raw.quick, "Everything small and brief; an option given wins");
}

void define_how(CLI::App& app, Options& options) {
  app.add_option("--requests", options.requests, "Measured requests of each run of Figures 4 and 5")
      ->check(CLI::Range(uint64_t{1000}, uint64_t{10'000'000'000}))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds,
                 "Runs of each configuration; the report has medians and spreads")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--window", options.window, "Requests in a window of Figure 3")
      ->check(CLI::Range(uint64_t{1000}, uint64_t{10'000'000'000}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of requests and sizes")->capture_default_str();
  app.add_option("--folder", options.folder,
                 "Folder for the file of --restart; default: $TMPDIR or /var/tmp")
      ->type_name("FOLDER");
  app.add_option("--json", options.files.json_path, "Write all results here")->type_name("FILE");
  app.add_option("--html", options.files.html_path, "Write a report with charts here")
      ->type_name("FILE");
}

Status take_traces(const RawOptions& raw, Options& options) {
  std::string text(nvmcached::kv_traces_text());
  std::string from = "built-in traces";
  if (!raw.traces_file.empty()) {
    std::ifstream file(raw.traces_file);
    std::stringstream content;
    content << file.rdbuf();
    if (!file) return invalid_argument("--traces-file {}: cannot be read", raw.traces_file);
    text = content.str();
    from = raw.traces_file;
  }
  auto traces = nvmcached::parse_traces(text);
  if (!traces.ok()) return invalid_argument("{}: {}", from, traces.status().message());
  if (raw.trace_names.empty()) {
    options.traces = *std::move(traces);
    return ok_status();
  }
  std::string known;
  for (const nvmcached::Trace& trace : *traces) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", trace.name);
  }
  for (const std::string& name : raw.trace_names) {
    bool found = false;
    for (const nvmcached::Trace& trace : *traces) {
      if (trace.name != name) continue;
      options.traces.push_back(trace);
      found = true;
    }
    if (!found) return invalid_argument("--traces {}: allowed are {}", shown(name), known);
  }
  return ok_status();
}

// Costs are charged to a clock of the benchmark's own, which only emulated media ask.
Status check_media(const Options& options) {
  for (const std::string& medium : options.media) {
    if (!is_emulated(medium)) {
      return invalid_argument(
          "--media {}: allowed are emulated:optane, emulated:dram, emulated:cxl", shown(medium));
    }
    const auto system =
        nvmcached::System::open(nvmcached::find_kind(nvmcached::kNvmcached), medium,
                                kLeastCacheBytes, nvmcached::mixed_trace(100, 50, 0.5));
    if (!system.ok()) return invalid_argument("--media: {}", system.status().message());
  }
  return ok_status();
}

void shorten(const CLI::App& app, Options& options) {
  set_unless_given(app, "--size", options.cache_bytes, uint64_t{16} << 20);
  set_unless_given(app, "--requests", options.requests, uint64_t{50'000});
  set_unless_given(app, "--rounds", options.rounds, 1u);
  set_unless_given(app, "--window", options.window, uint64_t{30'000});
  set_unless_given(app, "--items", options.restart_items, uint64_t{100'000});
  set_unless_given(app, "--mixes", options.get_percents, std::vector<double>{95, 50, 5});
}

Status understand(const CLI::App& app, const RawOptions& raw, Options& options) {
  Status status = raw.figures.take(!raw.figures.given() && !options.restart, &options.figures);
  if (status.ok()) status = take_traces(raw, options);
  if (!status.ok()) return status;
  if (!raw.write_cache.empty()) {
    const auto write_cache = parse_size_bytes(raw.write_cache);
    if (!write_cache.ok()) {
      return invalid_argument("--write-cache: {}", write_cache.status().message());
    }
    options.write_cache_bytes = *write_cache;
  }
  const auto size = parse_size_bytes(raw.size);
  if (!size.ok()) return invalid_argument("--size: {}", size.status().message());
  if (*size < kLeastCacheBytes || *size > (uint64_t{1} << 40)) {
    return invalid_argument("--size {}: allowed are {} to 1TiB", raw.size,
                            format_bytes(kLeastCacheBytes));
  }
  options.cache_bytes = *size;
  if (raw.quick) shorten(app, options);
  for (std::string& medium : options.media) medium = emulated_name(medium);
  if (options.emulated()) status = check_media(options);
  return status.ok() ? options.files.check() : status;
}

Status bench(const Options& options) {
  const auto document = nvmcached::run_nvmcached(options, system_clock());
  if (!document.ok()) return document.status();
  return publish(*document, options.files);
}

}  // namespace

void add_nvmcached_command(CLI::App& group, const std::string& command) {
  CLI::App* app = group.add_subcommand(
      "nvmcached", "The evaluation of *NVMcached* (APSys '16) on the key-value store, scaled down");
  app->footer(kExamples);
  auto options = std::make_shared<Options>();
  auto raw = std::make_shared<RawOptions>();
  options->command = command;
  define_what(*app, *options, *raw);
  define_how(*app, *options);
  on_command(*app, "nvcache bench nvmcached", [app, options, raw] {
    const Status status = understand(*app, *raw, *options);
    return status.ok() ? bench(*options) : status;
  });
}

}  // namespace nvcache
