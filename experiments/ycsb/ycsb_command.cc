#include "experiments/ycsb/ycsb_command.h"

#include <memory>

#include "apps/command/on_command.h"
#include "apps/report/table.h"
#include "base/print.h"
#include "base/text.h"
#include "base/units.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

constexpr char kExamples[] = R"(Examples:
  # YCSB C and A: no second tier against 1 GiB on an NVMe drive
  nvcache bench ycsb --workload c,a --records 1000000 \
    --cache none --compare 'nvme=nvcache://?size=1GiB&medium=file:/mnt/nvme/tier'

  # what admission costs and gains, on emulated persistent memory
  nvcache bench ycsb --workload b --cache none \
    --compare 'obp=nvcache://?size=512MiB&medium=emulated:optane&admission=obp(0.1)&eviction=lfru' \
    --compare 'admit-all=nvcache://?size=512MiB&medium=emulated:optane&admission=always&eviction=lru' \
    --json out.json --html out.html

  # WiredTiger instead of RocksDB, and its own block cache beside nvcache
  nvcache bench ycsb --engine wiredtiger --workload c --cache none \
    --compare 'own=wtcache:dram,size=512MiB' --compare 'nvcache://?size=512MiB&medium=dram'

  # keep the database, to start faster the next time
  nvcache bench ycsb --workload c --db /mnt/nvme/bench --keep-db

Exit codes: 0 done; 1 a run failed, or a value read back was wrong; 2 the command line is wrong;
130 interrupted (temporary databases are removed, nothing is written).)";

// The options as text, before they are understood.
struct RawOptions {
  std::vector<std::string> workloads{"c"};
  std::string warmup_workload;
  std::string distribution;
  std::string cache;
  std::vector<std::string> compare;
  std::string dram_cache = "64MiB";
};

void define_files(CLI::App& ycsb, BenchOptions& options) {
  ycsb.add_option("--db", options.db,
                  "Folder for the databases; default: a temporary one in $TMPDIR or /var/tmp")
      ->type_name("FOLDER");
  ycsb.add_flag("--keep-db", options.keep_db,
                "Leave the loaded database in --db for the next time");
  ycsb.add_option("--json", options.files.json_path, "Write all results here")->type_name("FILE");
  ycsb.add_option("--html", options.files.html_path, "Write a report with charts here")
      ->type_name("FILE");
}

void define_options(CLI::App& ycsb, BenchOptions& options, RawOptions& raw) {
  ycsb.add_option("--engine", options.engine, "Storage engine")
      ->capture_default_str()
      ->type_name("{rocksdb,wiredtiger}");
  ycsb.add_option("--workload", raw.workloads, "YCSB core workloads, run in this order")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("{a,b,c,d,e,f}");
  ycsb.add_option("--records", options.records, "Records of 1 KB to load")
      ->check(CLI::Range(uint64_t{100}, uint64_t{1'000'000'000}))
      ->capture_default_str();
  ycsb.add_option("--threads", options.threads, "Client threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  ycsb.add_option("--distribution", raw.distribution,
                  "How keys are chosen; default: the workload's own")
      ->type_name("{zipfian,latest,uniform}");
  ycsb.add_option("--cache", raw.cache,
                  "The configuration that all others are compared with: none, nvcache://?..., or "
                  "wtcache:dram,size=... (WiredTiger's own block cache); optionally after NAME=; "
                  "default: none");
  ycsb.add_option("--compare", raw.compare, "Another configuration; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
  ycsb.add_option("--seconds", options.seconds, "Measured seconds of each run")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  ycsb.add_option("--warmup", options.warmup_seconds, "Seconds before them, to warm the caches")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  ycsb.add_option("--warmup-threads", options.warmup_threads,
                  "Threads of the warm-up, if more than --threads")
      ->check(CLI::Range(0, 256));
  ycsb.add_option("--warmup-ops", options.warmup_ops,
                  "End the warm-up after this many operations, if that is sooner than --warmup")
      ->capture_default_str();
  ycsb.add_option("--warmup-workload", raw.warmup_workload,
                  "Warm up with this workload instead of the one measured")
      ->type_name("{a,b,c,d,e,f}");
  ycsb.add_flag(
      "--keep-tier", options.keep_tier,
      "Keep each second tier from run to run, as a server would; then --warmup is for cold "
      "tiers, --rewarm for all others");
  ycsb.add_option("--rewarm", options.rewarm_seconds,
                  "Seconds of warm-up when no tier is cold, with --keep-tier")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  ycsb.add_option("--rounds", options.rounds, "Runs of each configuration; the report has medians")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  ycsb.add_option("--dram-cache", raw.dram_cache, "Size of the engine's own block cache")
      ->capture_default_str()
      ->type_name("SIZE");
  ycsb.add_option("--first-round", options.first_round,
                  "Number of the first round: a run after a restart sees other operations, on the "
                  "same database, than the run before")
      ->capture_default_str();
  ycsb.add_option("--seed", options.seed, "Seed of keys, values and operations")
      ->capture_default_str();
  ycsb.add_flag(
      "--awake", options.awake,
      "Keep processors from halting: a virtual machine wakes them late, and that would count as "
      "the disk's latency");
  define_files(ycsb, options);
}

Status understand_configurations(const RawOptions& raw, BenchOptions& options) {
  std::vector<std::string> texts{raw.cache.empty() ? "none" : raw.cache};
  texts.insert(texts.end(), raw.compare.begin(), raw.compare.end());
  for (const std::string& text : texts) {
    auto configuration = parse_configuration(text, options.configurations);
    if (!configuration.ok()) return configuration.status();
    options.configurations.push_back(*std::move(configuration));
  }
  return ok_status();
}

Status understand(const RawOptions& raw, BenchOptions& options) {
  for (const std::string& letter : raw.workloads) {
    auto workload = ycsb_workload(letter);
    if (!workload.ok()) return workload.status();
    for (const YcsbWorkload& other : options.workloads) {
      if (other.name == workload->name) {
        return invalid_argument_error(fmt::format("--workload: {} is given twice", letter));
      }
    }
    options.workloads.push_back(*workload);
  }
  if (!raw.warmup_workload.empty()) {
    auto workload = ycsb_workload(raw.warmup_workload);
    if (!workload.ok()) return workload.status();
    options.warmup_workload = *workload;
  }
  if (!raw.distribution.empty()) {
    auto distribution = parse_distribution(raw.distribution);
    if (!distribution.ok()) return distribution.status();
    options.distribution = *distribution;
  }
  auto dram = parse_size_bytes(raw.dram_cache);
  if (!dram.ok()) return dram.status();
  options.dram_cache_bytes = *dram;
  if (options.keep_db && options.db.empty()) {
    return invalid_argument_error("--keep-db needs --db: where to keep it");
  }
  if (Status status = options.files.check(); !status.ok()) return status;
  return understand_configurations(raw, options);
}

Status bench(const BenchOptions& options) {
  const auto document = run_bench(options, system_clock());
  if (!document.ok()) return document.status();
  // The results are complete: a late Ctrl-C must not throw them away.
  if (Status status = options.files.write(*document); !status.ok()) return status;
  const auto tables = ycsb_tables(*document);
  if (!tables.ok()) return tables.status();
  print_to(stdout, "{}", *tables);
  options.files.print_paths();
  return ok_status();
}

}  // namespace

void add_ycsb_command(CLI::App& group, const std::string& command) {
  CLI::App* ycsb = group.add_subcommand(
      "ycsb", "YCSB core workloads, with and without a second-tier cache, in turn");
  ycsb->footer(kExamples);
  auto options = std::make_shared<BenchOptions>();
  auto raw = std::make_shared<RawOptions>();
  options->command = command;
  define_options(*ycsb, *options, *raw);
  on_command(*ycsb, "nvcache bench ycsb", [options, raw] {
    const Status status = understand(*raw, *options);
    return status.ok() ? bench(*options) : status;
  });
}

}  // namespace nvcache
