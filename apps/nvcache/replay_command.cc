#include "apps/nvcache/replay_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/command/command_page.h"
#include "apps/command/on_command.h"
#include "apps/command/output_file.h"
#include "apps/command/progress.h"
#include "apps/nvcache/policy_library.h"
#include "apps/nvcache/replay_report.h"
#include "apps/nvcache/replay_trace.h"
#include "apps/report/html.h"
#include "base/clock.h"
#include "base/print.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

constexpr const char* kFooter = R"(Examples:
  nvcache replay trace.lis.zst
  nvcache replay a.oracleGeneral.zst b.csv --dram 10% --tier 20%,50% --html both.html
  nvcache replay keys.txt --spec 'always+tinylfu(2)' --spec optimal --json out.json
  nvcache replay a.lis --policies ./own_policies.so --spec 'always+coldest(5)'
  nvcache replay a.lis --block 4KiB --spec 'space=regions&region=64KiB&eviction=tinylfu'
  zcat keys.gz | nvcache replay - --format text --dram 1000 --tier 10000,20000

Each tier lies below a DRAM cache (LRU) and sees what that misses; the cache is the real one, in
DRAM, in blocks that all count as one. A cell: the tier's hit ratio / inserts per lookup, and the
bytes written; with space=regions, blocks that are written again count too. 'optimal' knows the
future, and keeps the whole trace in memory. Writes of a trace count as lookups. Lines that are no
access are left out and counted, unless most are.

Formats, by --format or the end of the name (then .zst, .xz or .gz if packed):
)";
constexpr const char* kExitCodes = R"(
Exit codes: 0 done, 1 failed, 2 wrong command line, 130 interrupted.)";

constexpr std::array<std::string_view, 8> kUsualSpecs = {
    "obp(0.1)+lru", "always+lru",        "always+s3fifo",      "always+tinylfu",
    "always+auto",  "always+tinylfu(2)", "second_touch+clock", kOptimal,
};

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const TraceFormat& format : trace_formats()) names.push_back(format.name);
  return names;
}

struct Arguments {
  std::vector<std::string> traces;
  std::vector<std::string> specs;
  std::vector<std::string> tiers = {"5%", "10%", "20%", "40%"};
  std::string dram = "5%";
  std::vector<std::string> policy_libraries;
  TraceOptions trace;
  uint64_t block_bytes = TierReplay::kUsualBlockBytes;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::string json_path;
  std::string html_path;
};

StatusOr<ReplayPlan> plan_of(const Arguments& arguments) {
  ReplayPlan plan{.specs = arguments.specs,
                  .tiers = {},
                  .dram = {},
                  .trace = arguments.trace,
                  .threads = arguments.threads,
                  .block_bytes = static_cast<uint32_t>(arguments.block_bytes)};
  if (plan.specs.empty()) plan.specs.assign(kUsualSpecs.begin(), kUsualSpecs.end());
  for (const std::string& text : arguments.tiers) {
    auto size = parse_replay_size("--tier", text);
    if (!size.ok()) return size.status();
    plan.tiers.push_back(*std::move(size));
  }
  auto dram = parse_replay_size("--dram", arguments.dram);
  if (!dram.ok()) return dram.status();
  plan.dram = *std::move(dram);
  return plan;
}

void print_pace(const ReplayTable& table, const ReplayPlan& plan) {
  const double lookups = static_cast<double>(table.lookups) *
                         static_cast<double>(plan.specs.size() * plan.tiers.size());
  print_to(stdout, "{:.1f} s; {:.2f} million lookups of tiers a second and processor\n\n",
           table.seconds, lookups / 1e6 / std::max(table.cpu_seconds, 1e-9));
}

StatusOr<ReplayTable> replay_shown(const std::string& path, const ReplayPlan& plan) {
  Progress progress(system_clock());
  return replay_trace(path, plan, [&](std::string_view what, double share) {
    progress.update(share, fmt::format("{}: {}", path, what));
  });
}

Status run(const Arguments& arguments) {
  for (const std::string& library : arguments.policy_libraries) {
    if (Status status = load_policy_library(library); !status.ok()) return status;
  }
  const StatusOr<ReplayPlan> plan = plan_of(arguments);
  if (!plan.ok()) return plan.status();
  for (const auto& [option, path] :
       {std::pair("--json", &arguments.json_path), std::pair("--html", &arguments.html_path)}) {
    if (Status status = check_writable(option, *path); !status.ok()) return status;
  }
  std::vector<ReplayTable> tables;
  for (const std::string& path : arguments.traces) {
    StatusOr<ReplayTable> table = replay_shown(path, *plan);
    if (!table.ok()) return table.status();
    print_to(stdout, "{}", replay_text(*table, *plan));
    print_pace(*table, *plan);
    std::fflush(stdout);
    if (!table->cut_short.empty()) {
      print_to(stderr, "nvcache replay: {}: {}; what comes before was replayed\n", path,
               table->cut_short);
    }
    if (table->skipped_lines > 0) {
      print_to(stderr,
               "nvcache replay: {}: lines that are no access were left out: {}; the first: {}\n",
               path, table->skipped_lines, table->first_skipped);
    }
    tables.push_back(*std::move(table));
  }
  if (tables.size() > 1) print_to(stdout, "{}", replay_means_text(tables, *plan));
  const nlohmann::json document = replay_json(tables, *plan);
  if (!arguments.json_path.empty()) {
    Status status = write_file_whole(arguments.json_path, document.dump(1) + "\n");
    if (!status.ok()) return status;
  }
  if (arguments.html_path.empty()) return ok_status();
  const StatusOr<std::string> html = report_html({document});
  if (!html.ok()) return html.status();
  return write_file_whole(arguments.html_path, *html);
}

}  // namespace

void add_replay_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command =
      app.add_subcommand("replay", "Hit ratios and bytes written of policies on traces");
  command->footer(kFooter + describe_trace_formats() + kExitCodes);
  command->add_option("trace", arguments->traces, "Files of block accesses; - is standard input")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--spec", arguments->specs,
                   "Settings of a block cache without size, two policies such as always+lru, or "
                   "'optimal'; once for each row (default: eight rows)")
      ->take_all();
  command
      ->add_option("--policies", arguments->policy_libraries,
                   "A shared library that brings policies for --spec (nvcache/policies.h); repeat")
      ->take_all()
      ->type_name("FILE");
  command
      ->add_option("--tier", arguments->tiers,
                   "Sizes of the tier: percent of the trace's distinct blocks, or blocks")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--dram", arguments->dram, "Size of the DRAM cache above, likewise; 0: none")
      ->capture_default_str();
  command->add_option("--format", arguments->trace.format, "Format of the traces (below)")
      ->type_name(choices(format_names()));
  command->add_option("--columns", arguments->trace.columns,
                      "Of csv: KEY or KEY,SIZE; names of the heading, or numbers from 1");
  command
      ->add_option("--block", arguments->block_bytes,
                   "Bytes of the medium that a block takes: they divide a region")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(64, 64 << 10))
      ->default_str("512");
  command->add_option("--threads", arguments->threads, "Caches that are replayed at once")
      ->check(CLI::Range(1, 256))
      ->default_str("one a processor");
  command->add_option("--json", arguments->json_path, "Also write the results to this file")
      ->type_name("FILE");
  command->add_option("--html", arguments->html_path, "Also write charts to this file")
      ->type_name("FILE");
  on_command(*command, "nvcache replay", [arguments] { return run(*arguments); });
}

}  // namespace nvcache
