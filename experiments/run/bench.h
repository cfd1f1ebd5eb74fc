// Loads on one engine with different caches, in turn: `nvcache bench ycsb` and `profile`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "experiments/run/experiments.h"
#include "nvcache/status_or.h"

namespace nvcache {

// One way of running the engine: without a second tier, with the one that the specification
// describes, or with the engine's own block cache in its place.
struct Configuration {
  std::string name;
  std::string spec;  // nvcache://..., wtcache:..., lru:... or tiered://...; empty: none

  bool has_tier() const { return spec.starts_with("nvcache://"); }
  bool has_own_cache() const { return !spec.empty() && !has_tier(); }
};

// Parses "none", "nvcache://...", "wtcache:...", "lru:...", "tiered://...", or one of them with a
// name before it: "obp=nvcache://...". It does not look at what follows the scheme.
// Configurations without a name get one that is unique among `others`. INVALID_ARGUMENT names what
// was given and what is allowed.
[[nodiscard]] StatusOr<Configuration> parse_configuration(std::string_view text,
                                                          const std::vector<Configuration>& others);

struct EngineBenchOptions : BenchOptions {
  std::string engine = "rocksdb";
  std::vector<std::shared_ptr<const Load>> loads;
  std::vector<Configuration> configurations;  // the first is what others are compared with
  uint32_t threads = 2;
  uint64_t dram_cache_bytes = 64ull << 20;
  std::string storage;  // as in EngineOptions
  bool index_in_cache = false;
};

// --awake, --threads, those of harness/run_options.h.
void define_bench_options(CLI::App& app, EngineBenchOptions& options);

// The document: kind "ycsb", schema 1: setup{}, workloads[] (Load::describe()), configurations[],
// databases[], runs[], summary[] (see result.h).
[[nodiscard]] StatusOr<nlohmann::json> run_bench(const EngineBenchOptions& options,
                                                 const Clock& clock);

// The command: checks the options, runs, writes files, prints tables.
[[nodiscard]] Status bench(const EngineBenchOptions& options);

}  // namespace nvcache
