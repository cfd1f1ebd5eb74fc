// The caches that are compared, as the specification of nvcache or as WiredTiger's own
// block cache. Stateless.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/writes_hurt/writes_hurt_run.h"
#include "experiments/writes_hurt/wtperf.h"

namespace nvcache::writes_hurt {

struct CacheChoice {
  std::string name;
  std::string what;         // in a few words
  std::string spec;         // nvcache://...; empty: none
  std::string writes;       // of the extension: offer, update or skip; "": its default
  std::string block_cache;  // WiredTiger's block_cache=(...); empty: off
};

inline constexpr std::string_view kNone = "none";

// Figures 4 and 5: none, then the three admission policies, without eviction.
std::vector<CacheChoice> figure4_choices(const Options& options);
// Figure 6 and Table 2: none, nvcache, then what it is compared with. `nvram_path` is a
// folder for WiredTiger's own NVRAM cache; empty: leave that out.
std::vector<CacheChoice> figure6_choices(const Options& options, const std::string& nvram_path);
// Table 1: eager eviction, by the policy of *Writes Hurt* and by plain LRU, and no eviction.
std::vector<CacheChoice> table1_choices(const Options& options);
// Figure 7 at one NVRAM size: Open-CAS-like and nvcache.
std::vector<CacheChoice> figure7_choices(const Options& options, double nvram_gb);

// The names that --configurations takes.
std::vector<std::string> figure6_names();

// For wtperf's -C: loads the extension (pass-through where the choice has no cache, so
// that the same counters are kept) and, if `snappy`, that compressor.
std::string connection_config(const CacheChoice& choice, const Tools& tools, bool snappy,
                              const std::string& stats_path);

}  // namespace nvcache::writes_hurt
