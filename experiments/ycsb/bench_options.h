// What `nvcache bench ycsb` was asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/prng.h"
#include "experiments/harness/result_files.h"
#include "experiments/workload/ycsb.h"
#include "nvcache/status_or.h"

namespace nvcache {

// One way of running the engine: without a second tier, with the one that the
// specification describes, or with the engine's own block cache in its place.
struct Configuration {
  std::string name;
  std::string spec;  // nvcache://... or wtcache:...; empty: neither

  bool has_tier() const { return spec.starts_with("nvcache://"); }
  bool has_own_cache() const { return !spec.empty() && !has_tier(); }
};

// Parses "none", "nvcache://...", "wtcache:...", or one of them with a name before it:
// "obp=nvcache://...". It does not look at what follows the scheme.
// Configurations without a name get one that is unique among `others`.
// INVALID_ARGUMENT names what was given and what is allowed.
[[nodiscard]] StatusOr<Configuration> parse_configuration(std::string_view text,
                                                          const std::vector<Configuration>& others);

struct BenchOptions {
  std::string engine = "rocksdb";
  std::vector<YcsbWorkload> workloads;
  std::optional<YcsbWorkload> warmup_workload;  // empty: the workload itself
  std::optional<Distribution> distribution;     // empty: the workload's own
  std::vector<Configuration> configurations;    // the first is what others are compared with
  uint64_t records = 1'000'000;
  uint32_t threads = 2;
  double seconds = 10;
  double warmup_seconds = 10;
  uint32_t warmup_threads = 0;  // of the warm-up, if more than `threads`
  uint64_t warmup_ops = 0;      // ends the warm-up sooner; 0: no limit
  bool keep_tier = false;       // each configuration's tier stays open from run to run
  double rewarm_seconds = 3;    // warm-up of runs with a warm tier, with keep_tier
  uint32_t rounds = 3;
  uint32_t first_round = 0;  // its number: rounds of other numbers see other operations
  uint64_t dram_cache_bytes = 64ull << 20;
  uint64_t seed = 1;
  bool awake = false;  // processors are kept from halting
  std::string db;      // empty: a temporary folder
  bool keep_db = false;
  ResultFiles files;
  std::string command;  // as typed
};

// The seed of the operations of a workload in a round (1 and up): the same for all configurations,
// another for each workload and round. A tier that is kept would know the keys of a workload that
// drew the same ones before it.
inline uint64_t seed_of(const BenchOptions& options, const YcsbWorkload& workload, uint32_t round) {
  return mix64(mix64(options.seed + options.first_round + round) ^ hash_bytes({&workload.name, 1}));
}

}  // namespace nvcache
