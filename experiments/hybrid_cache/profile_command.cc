#include "experiments/hybrid_cache/profile_command.h"

#include <algorithm>
#include <memory>

#include "apps/command/on_command.h"
#include "apps/command/output_file.h"
#include "base/print.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/harness/emulated_name.h"
#include "experiments/hybrid_cache/profile_files.h"

namespace nvcache {
namespace {

constexpr std::string_view kTieredScheme = "tiered://";
constexpr std::string_view kLruScheme = "lru:";
constexpr size_t kMaxNameBytes = 16;  // what the table has room for

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
  std::vector<std::string> caches;
  std::string index = "cache";
  std::string rate = "max";
  std::string scale = "2MiB";
};

void define_options(CLI::App& app, ProfileOptions& options, RawOptions& raw) {
  app.add_option("--name", raw.name,
                 "The workload: " + profile_names_built_in() + ", or a file's path")
      ->required();
  app.add_option("--cache", raw.caches,
                 "A block cache: lru:size=SIZE[,shards=N], RocksDB's own, or tiered://?...; "
                 "optionally after NAME=; may be given several times: all others are compared with "
                 "the first")
      ->required()
      ->take_all()
      ->allow_extra_args(false);
  app.add_option(
         "--storage", options.storage,
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
  app.add_option("--threads", options.threads, "Client threads; default: the profile's")
      ->check(CLI::Range(1, 256));
  app.add_option("--seconds", options.seconds, "Measured seconds of each run")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup_seconds, "Seconds before them, to warm the cache")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Runs of each configuration; the report has medians")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--db", options.db,
                 "Folder for the databases; default: a temporary one in $TMPDIR or /var/tmp")
      ->type_name("FOLDER");
  app.add_flag("--keep-db", options.keep_db, "Leave the loaded databases in --db");
  app.add_option("--seed", options.seed, "Seed of pairs and operations")->capture_default_str();
  app.add_flag(
      "--awake", options.awake,
      "Keep processors from halting: a virtual machine wakes them late, and that would count as "
      "the disk's latency");
  app.add_option("--json", options.json_path, "Write all results here")->type_name("FILE");
}

Status take_choice(const char* option, const std::string& given, const char* yes, const char* no,
                   bool* chosen) {
  if (given != yes && given != no) {
    return invalid_argument("{} {}: allowed are {} and {}", option, given, yes, no);
  }
  *chosen = given == yes;
  return ok_status();
}

Status understand(const RawOptions& raw, ProfileOptions& options) {
  auto profile = find_workload_profile(raw.name);
  if (!profile.ok()) return profile.status();
  options.profile = *std::move(profile);
  for (const std::string& text : raw.caches) {
    auto cache = parse_cache(text, options.configurations);
    if (!cache.ok()) return cache.status();
    options.configurations.push_back(*std::move(cache));
  }
  Status status = take_choice("--index", raw.index, "cache", "memory", &options.index_in_cache);
  if (status.ok()) status = take_choice("--rate", raw.rate, "sine", "max", &options.sine);
  if (!status.ok()) return status;
  const auto scale = parse_size_bytes(raw.scale);
  if (!scale.ok()) return invalid_argument("--scale: {}", scale.status().message());
  if (*scale == 0 || *scale > (1ull << 30)) {
    return invalid_argument("--scale {}: allowed are 1 to 1GiB", raw.scale);
  }
  options.gb_bytes = *scale;
  if (options.keep_db && options.db.empty()) {
    return invalid_argument("--keep-db needs --db: where to keep them");
  }
  options.storage = emulated_name(options.storage);
  return check_writable("--json", options.json_path);
}

Status bench(const ProfileOptions& options) {
  const auto document = run_profile_bench(options, system_clock());
  if (!document.ok()) return document.status();
  // From here on the results are there: a late Ctrl-C must not throw them away.
  if (!options.json_path.empty()) {
    Status status = write_file_whole(options.json_path, document->dump(1) + "\n");
    if (!status.ok()) return status;
  }
  const auto tables = profile_tables(*document);
  if (!tables.ok()) return tables.status();
  print_to(stdout, "{}", *tables);
  if (!options.json_path.empty()) print_to(stdout, "results: {}\n", options.json_path);
  return ok_status();
}

bool is_cache(std::string_view text) {
  return text.starts_with(kTieredScheme) || text.starts_with(kLruScheme);
}

}  // namespace

StatusOr<Configuration> parse_cache(std::string_view text,
                                    const std::vector<Configuration>& others) {
  Configuration parsed{"", std::string(text)};
  if (!is_cache(text)) {
    const auto [name, spec] = split_once(text, '=');
    if (!is_cache(spec) || name.empty() || name.size() > kMaxNameBytes) {
      return invalid_argument(
          "--cache '{}': allowed are lru:size=SIZE[,shards=N] and tiered://?key=value&..., each "
          "optionally after NAME= (up to {} characters)",
          text, kMaxNameBytes);
    }
    parsed = {std::string(name), std::string(spec)};
  }
  const bool named = !parsed.name.empty();
  const std::string base = parsed.spec.starts_with(kLruScheme) ? "lru" : "tiered";
  if (!named) parsed.name = base;
  for (int i = 2;; ++i) {
    const bool taken = std::any_of(others.begin(), others.end(), [&](const Configuration& other) {
      return other.name == parsed.name;
    });
    if (!taken) return parsed;
    if (named) return invalid_argument("--cache '{}': {} is given twice", text, parsed.name);
    parsed.name = fmt::format("{}-{}", base, i);
  }
}

void add_profile_command(CLI::App& group, const std::string& command) {
  CLI::App* app = group.add_subcommand(
      "profile", "A production-like workload on several RocksDB databases sharing a block cache");
  app->footer(kExamples);
  auto options = std::make_shared<ProfileOptions>();
  auto raw = std::make_shared<RawOptions>();
  options->command = command;
  define_options(*app, *options, *raw);
  on_command(*app, "nvcache bench profile", [options, raw] {
    const Status status = understand(*raw, *options);
    return status.ok() ? bench(*options) : status;
  });
}

}  // namespace nvcache
