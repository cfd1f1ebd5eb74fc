#include <memory>

#include "apps/command/on_command.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/harness/emulated_name.h"
#include "experiments/run/bench.h"
#include "experiments/run/profile_files.h"
#include "experiments/run/profile_load.h"
#include "experiments/run/ycsb_command.h"

namespace nvcache {
namespace {

constexpr char kExamples[] = R"(Examples:
  # only 80 MiB of DRAM, against 24 MiB and 400 MiB of emulated persistent memory below it
  nvcache bench profile --name whatsapp --cache lru:size=80MiB \
    --cache 'tiered=tiered://?policy=dram_first&dram=24MiB&tier=(size=400MiB,medium=emulated:optane)'

  # the disk's own latency, and a load that rises and falls
  nvcache bench profile --name laser --cache lru:size=64MiB --storage disk --rate sine

  # your own workload; its databases stay for the next time
  nvcache bench profile --name ./mine.profile --cache lru:size=64MiB --db /mnt/nvme/p --keep-db

Reads of SST files take as long as on EMULATED flash, unless --storage disk is given. A thread
that waits for flash sleeps. Emulated persistent memory keeps a core busy while a thread waits for
it: a few threads saturate a machine with few cores.
Exit codes: 0 done; 1 a run failed, or a value read back was wrong; 2 the command line is wrong;
130 interrupted (temporary databases are removed, nothing is written).)";

// The options as text, before they are understood.
struct RawOptions {
  std::string name;
  std::vector<std::string> configurations;
  std::string storage = "emulated:flash";
  std::string index = "cache";
  std::string rate = "max";
  std::string scale = "2MiB";
};

void define_options(CLI::App& app, EngineBenchOptions& options, RawOptions& raw) {
  app.add_option("--name", raw.name,
                 "The workload: " + profile_names_built_in() + ", or a file's path")
      ->required();
  app.add_option("--cache", raw.configurations,
                 "A block cache: lru:size=SIZE[,shards=N], RocksDB's own, or tiered://?...; "
                 "optionally after NAME=; may be given several times: all others are compared with "
                 "the first")
      ->required()
      ->take_all()
      ->allow_extra_args(false);
  app.add_option(
         "--storage", raw.storage,
         "Storage of SST files: emulated:PROFILE[,load=N] (profiles: docs/design/model.md; each "
         "client stands for N), or disk (direct reads)")
      ->capture_default_str();
  app.add_option("--index", raw.index,
                 "Where index and filter blocks lie: cache (with high priority) or memory")
      ->capture_default_str()
      ->type_name("{cache,memory}");
  app.add_option("--rate", raw.rate, "Load: max (no limit), or sine (as the profile has it)")
      ->capture_default_str()
      ->type_name("{max,sine}");
  app.add_option("--scale", raw.scale, "Size here of a GB of the production host")
      ->capture_default_str()
      ->type_name("SIZE");
  define_bench_options(app, options);
}

Status take_choice(const char* option, const std::string& given, const char* yes, const char* no,
                   bool* chosen) {
  if (given != yes && given != no) {
    return invalid_argument("{} {}: allowed are {} and {}", option, given, yes, no);
  }
  *chosen = given == yes;
  return ok_status();
}

Status take_caches(const RawOptions& raw, EngineBenchOptions& options) {
  for (const std::string& text : raw.configurations) {
    auto cache = parse_configuration(text, options.configurations);
    if (!cache.ok()) return cache.status();
    if (!cache->has_own_cache() || cache->spec.starts_with("wtcache:")) {
      return invalid_argument(
          "--cache '{}': allowed are lru:size=SIZE[,shards=N] and tiered://?...", text);
    }
    options.configurations.push_back(*std::move(cache));
  }
  return ok_status();
}

Status understand(const CLI::App& app, const RawOptions& raw, EngineBenchOptions& options) {
  ProfileLoadOptions load;
  auto profile = find_workload_profile(raw.name);
  if (!profile.ok()) return profile.status();
  load.profile = *std::move(profile);
  load.seed = options.seed;
  Status status = take_choice("--rate", raw.rate, "sine", "max", &load.sine);
  if (status.ok()) {
    status = take_choice("--index", raw.index, "cache", "memory", &options.index_in_cache);
  }
  if (status.ok()) status = take_caches(raw, options);
  if (!status.ok()) return status;
  const auto scale = parse_size_bytes(raw.scale);
  if (!scale.ok()) return invalid_argument("--scale: {}", scale.status().message());
  if (*scale == 0 || *scale > (1ull << 30)) {
    return invalid_argument("--scale {}: allowed are 1 to 1GiB", raw.scale);
  }
  load.gb_bytes = *scale;
  if (app.count("--threads") == 0) options.threads = load.profile.threads;
  options.loads.push_back(make_profile_load(load));
  options.storage = emulated_name(raw.storage);
  return options.check();
}

}  // namespace

void add_profile_command(CLI::App& group, const std::string& command) {
  CLI::App* app = group.add_subcommand(
      "profile", "A production-like workload on several RocksDB databases sharing a block cache");
  app->footer(kExamples);
  auto options = std::make_shared<EngineBenchOptions>();
  auto raw = std::make_shared<RawOptions>();
  options->command = command;
  options->engine = "rocksdb-small";
  define_options(*app, *options, *raw);
  on_command(*app, "nvcache bench profile", [app, options, raw] {
    const Status status = understand(*app, *raw, *options);
    return status.ok() ? bench(*options) : status;
  });
}

}  // namespace nvcache
