#include "experiments/run/ycsb_command.h"

#include <algorithm>
#include <memory>

#include "apps/command/on_command.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/run/bench.h"
#include "experiments/run/ycsb_load.h"

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
  std::string cache = "none";
  std::vector<std::string> compare;
  std::string dram_cache = "64MiB";
  uint64_t records = 1'000'000;
};

void define_options(CLI::App& ycsb, EngineBenchOptions& options, RawOptions& raw) {
  ycsb.add_option("--engine", options.engine, "Storage engine")
      ->capture_default_str()
      ->type_name("{rocksdb,wiredtiger}");
  ycsb.add_option("--workload", raw.workloads, "YCSB core workloads, run in this order")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("{a,b,c,d,e,f}");
  ycsb.add_option("--records", raw.records, "Records of 1 KB to load")
      ->check(CLI::Range(uint64_t{100}, uint64_t{1'000'000'000}))
      ->capture_default_str();
  ycsb.add_option("--distribution", raw.distribution,
                  "How keys are chosen; default: the workload's own")
      ->type_name("{zipfian,latest,uniform}");
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
  ycsb.add_option("--dram-cache", raw.dram_cache, "Size of the engine's own block cache")
      ->capture_default_str()
      ->type_name("SIZE");
  ycsb.add_option("--first-round", options.first_round,
                  "Number of the first round: a run after a restart sees other operations, on the "
                  "same database, than the run before")
      ->capture_default_str();
  ycsb.add_option("--cache", raw.cache,
                  "The configuration that all others are compared with: none, nvcache://?..., "
                  "wtcache:dram,size=... (WiredTiger's own block cache), or, in place of RocksDB's "
                  "cache, lru:size=... or tiered://?...; optionally after NAME=")
      ->capture_default_str();
  ycsb.add_option("--compare", raw.compare, "Another configuration; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
  define_bench_options(ycsb, options);
}

Status take_loads(const RawOptions& raw, EngineBenchOptions& options) {
  YcsbLoadOptions load;
  load.records = raw.records;
  load.seed = options.seed;
  if (!raw.warmup_workload.empty()) {
    auto workload = ycsb_workload(raw.warmup_workload);
    if (!workload.ok()) return workload.status();
    load.warmup = *workload;
  }
  if (!raw.distribution.empty()) {
    auto distribution = parse_distribution(raw.distribution);
    if (!distribution.ok()) return distribution.status();
    load.distribution = *distribution;
  }
  for (const std::string& letter : raw.workloads) {
    auto workload = ycsb_workload(letter);
    if (!workload.ok()) return workload.status();
    load.workload = *workload;
    options.loads.push_back(make_ycsb_load(load));
    const bool twice = std::any_of(
        options.loads.begin(), options.loads.end() - 1,
        [&](const auto& other) { return other->name() == options.loads.back()->name(); });
    if (twice) return invalid_argument("--workload: {} is given twice", letter);
  }
  return ok_status();
}

Status understand(const RawOptions& raw, EngineBenchOptions& options) {
  if (Status status = take_loads(raw, options); !status.ok()) return status;
  auto dram = parse_size_bytes(raw.dram_cache);
  if (!dram.ok()) return dram.status();
  options.dram_cache_bytes = *dram;
  std::vector<std::string> texts{raw.cache};
  texts.insert(texts.end(), raw.compare.begin(), raw.compare.end());
  for (const std::string& text : texts) {
    auto configuration = parse_configuration(text, options.configurations);
    if (!configuration.ok()) return configuration.status();
    options.configurations.push_back(*std::move(configuration));
  }
  return options.check();
}

}  // namespace

void add_ycsb_command(CLI::App& group, const std::string& command) {
  CLI::App* ycsb = group.add_subcommand(
      "ycsb", "YCSB core workloads, with and without a second-tier cache, in turn");
  ycsb->footer(kExamples);
  auto options = std::make_shared<EngineBenchOptions>();
  auto raw = std::make_shared<RawOptions>();
  options->command = command;
  define_options(*ycsb, *options, *raw);
  on_command(*ycsb, "nvcache bench ycsb", [options, raw] {
    const Status status = understand(*raw, *options);
    return status.ok() ? bench(*options) : status;
  });
}

}  // namespace nvcache
