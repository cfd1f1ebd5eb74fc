#include "experiments/run/bench.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "apps/command/machine.h"
#include "apps/report/table.h"
#include "base/print.h"
#include "base/text.h"
#include "experiments/run/result.h"

namespace nvcache {
namespace {

using nlohmann::json;

constexpr size_t kMaxNameBytes = 16;  // what the table has room for

struct Scheme {
  std::string_view begin;
  std::string_view name;  // of a configuration that has none
};
constexpr std::array<Scheme, 4> kSchemes = {
    {{"nvcache://", "nvcache"}, {"wtcache:", "wtcache"}, {"lru:", "lru"}, {"tiered://", "tiered"}}};

// "none", or the name of its scheme; empty: no specification.
std::string_view default_name(std::string_view spec) {
  if (spec == "none") return spec;
  for (const Scheme& scheme : kSchemes) {
    if (spec.starts_with(scheme.begin)) return scheme.name;
  }
  return {};
}

bool is_taken(std::string_view name, const std::vector<Configuration>& others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const Configuration& other) { return other.name == name; });
}

std::vector<Experiment> plan_experiments(const EngineBenchOptions& options) {
  std::vector<Experiment> plan;
  for (const auto& load : options.loads) {
    for (const Configuration& configuration : options.configurations) {
      EngineOptions engine;
      engine.dram_cache_bytes = options.dram_cache_bytes;
      (configuration.has_own_cache() ? engine.own_cache : engine.tier_spec) = configuration.spec;
      engine.storage = options.storage;
      engine.index_in_cache = options.index_in_cache;
      plan.push_back({load, configuration.name, engine, options.threads, json::object()});
    }
  }
  return plan;
}

json configurations_json(const EngineBenchOptions& options, const json& runs) {
  json list = json::array();
  for (const Configuration& configuration : options.configurations) {
    json entry = {{"name", configuration.name},
                  {"spec", configuration.spec.empty() ? "none" : configuration.spec}};
    for (const json& run : runs) {
      if (run["configuration"] != configuration.name || !run.contains("medium")) continue;
      entry["medium"] = run["medium"];
      entry["admission"] = run["admission"];
      entry["eviction"] = run["eviction"];
      entry["emulated"] = run["medium"].get<std::string>().find("emulated") != std::string::npos;
      break;
    }
    if (!entry.contains("medium") && configuration.spec.find("emulated:") != std::string::npos) {
      entry["emulated"] = true;
    }
    list.push_back(std::move(entry));
  }
  if (options.storage.starts_with("emulated:")) {
    list.push_back({{"name", "storage"},
                    {"spec", options.storage},
                    {"medium", options.storage},
                    {"emulated", true}});
  }
  return list;
}

json setup_json(const EngineBenchOptions& options) {
  return {{"threads", options.threads},
          {"seconds", options.seconds},
          {"warmup_seconds", options.warmup_seconds},
          {"warmup_ops", options.warmup_ops},
          {"warmup_threads", std::max(options.threads, options.warmup_threads)},
          {"keep_tier", options.keep_tier},
          {"rewarm_seconds", options.rewarm_seconds},
          {"rounds", options.rounds},
          {"first_round", options.first_round},
          {"dram_cache_bytes", options.dram_cache_bytes},
          {"storage", options.storage},
          {"index", options.index_in_cache ? "cache" : "memory"},
          {"seed", options.seed},
          {"awake", options.awake}};
}

}  // namespace

StatusOr<Configuration> parse_configuration(std::string_view text,
                                            const std::vector<Configuration>& others) {
  std::string_view spec = text;
  std::string name;
  if (default_name(text).empty() && text.find('=') != std::string_view::npos) {
    std::tie(name, spec) = split_once(text, '=');
    if (name.empty() || name.size() > kMaxNameBytes) {
      return invalid_argument("configuration '{}': a name has 1 to {} characters", text,
                              kMaxNameBytes);
    }
  }
  const std::string_view base = default_name(spec);
  if (base.empty()) {
    return invalid_argument(
        "configuration '{}': allowed are none, nvcache://?key=value&..., wtcache:dram,size=... "
        "(WiredTiger's own), lru:size=SIZE[,shards=N] and tiered://?key=value&... (RocksDB's "
        "whole cache), each of them behind NAME= too",
        text);
  }
  if (is_taken(name, others)) {
    return invalid_argument("configuration '{}': the name {} is given twice", text, name);
  }
  if (name.empty()) {
    name = base;
    for (int i = 2; is_taken(name, others); ++i) name = fmt::format("{}-{}", base, i);
  }
  return Configuration{name, spec == "none" ? std::string() : std::string(spec)};
}

void define_bench_options(CLI::App& app, EngineBenchOptions& options) {
  app.add_option("--threads", options.threads, "Client threads")->check(CLI::Range(1, 256));
  define_run_times(app, options);
  define_seed(app, options);
  app.add_flag(
      "--awake", options.awake,
      "Keep processors from halting: a virtual machine wakes them late, and that would count as "
      "the disk's latency");
  define_run_files(app, options);
}

StatusOr<json> run_bench(const EngineBenchOptions& options, const Clock& clock) {
  auto kind = make_engine_kind(options.engine);
  if (!kind.ok()) return kind.status();
  const std::vector<Experiment> plan = plan_experiments(options);
  if (Status status = check_experiments(**kind, plan); !status.ok()) return status;
  auto databases = Databases::take(options.db, options.keep_db);
  if (!databases.ok()) return databases.status();
  Progress progress(clock);
  auto result = run_experiments(**kind, **databases, plan, options, clock, progress);
  if (!result.ok()) return result.status();
  json workloads = json::array();
  for (const auto& load : options.loads) workloads.push_back(load->describe());
  return json{{"kind", "ycsb"},
              {"schema", 1},
              {"nvcache", NVCACHE_VERSION},
              {"command", options.command},
              {"finished", utc_now()},
              {"machine", machine_facts()},
              {"engine", (*kind)->describe()},
              {"setup", setup_json(options)},
              {"workloads", workloads},
              {"configurations", configurations_json(options, result->runs)},
              {"databases", result->databases},
              {"runs", result->runs},
              {"summary", summarize(result->runs)}};
}

Status bench(const EngineBenchOptions& options) {
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

}  // namespace nvcache
