// `nvcache bench profile`: a production-like workload on several RocksDB databases that
// share one block cache.
//
// JSON: kind "profile", schema 1: setup{}, profile{}, configurations[], runs[] (see
// profile_run.h), summary[] (see result.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/clock.h"
#include "experiments/harness/result_files.h"
#include "experiments/workload/profile.h"
#include "experiments/ycsb/bench_options.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache {

inline constexpr uint64_t kDefaultGbBytes = 2ull << 20;  // a GB of the production host

struct ProfileOptions {
  WorkloadProfile profile;
  std::vector<Configuration> configurations;  // lru:... or tiered://...; the first is the base
  std::string storage = "emulated:flash";     // or "disk"
  bool index_in_cache = true;
  bool sine = false;
  uint64_t gb_bytes = kDefaultGbBytes;
  uint32_t threads = 0;  // 0: the profile's
  double seconds = 10;
  double warmup_seconds = 10;
  uint32_t rounds = 3;
  uint64_t seed = 1;
  bool awake = false;  // processors are kept from halting
  std::string db;      // empty: a temporary folder
  bool keep_db = false;
  std::string json_path;  // empty: none
  std::string command;    // as typed
};

// Adds `profile` to nvbench. Its callback ends by CLI::RuntimeError with an exit code of
// exit_code.h. `command` is the command line as typed.
void add_profile_command(CLI::App& bench, const std::string& command);

// A cache specification, with NAME= before it or without. INVALID_ARGUMENT names what was
// given and what is allowed; what follows the scheme is not looked at.
[[nodiscard]] StatusOr<Configuration> parse_cache(std::string_view text,
                                                  const std::vector<Configuration>& others);

[[nodiscard]] StatusOr<nlohmann::json> run_profile_bench(const ProfileOptions& options,
                                                         const Clock& clock);

// As text for a terminal, at most 100 columns wide.
[[nodiscard]] StatusOr<std::string> profile_tables(const nlohmann::json& document);

// The parameters of a profile, and what follows from them.
nlohmann::json profile_json(const WorkloadProfile& profile);

}  // namespace nvcache
