// Simulates an engine on a machine of any size: N clients, M cores, DRAM, NVRAM and a disk, under
// virtual time. WiredTiger's tier is the real BlockCache, RocksDB's the real TieredCache, each with
// its real policies on a medium that keeps no bytes, and memcached is the real KvStore; everything
// around them is a model. docs/results/simulate.md says what is modelled, where each parameter
// comes from, and what is not. Every figure of it is simulated.
//
// Deterministic: the same options give the same result on every machine, to the bit. One thread
// for each call; calls in several threads do not meet.
//
// Sizes are those of the machine that is simulated. With `scale` S the simulation holds 1/S of
// each (dataset, DRAM, NVRAM, and the run's length with every period in it); rates, latencies,
// clients and cores stay. Popularity is scaled so that the share of accesses that the hottest x% of
// the blocks get stays as it is (experiments/simulate/keys.h).
//
// Cost: some 1 us of one core for each simulated operation, and some 100 bytes for each simulated
// block of 28 KiB.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nvcache/status_or.h"

namespace nvcache::simulate {

inline constexpr uint64_t kGiB = uint64_t{1} << 30;

struct Options {
  std::string engine = "wiredtiger";      // a row of engines()
  std::string workload = "c";             // a row of workloads(): YCSB a to e, and others
  std::string configuration = "nvcache";  // a row of configurations()
  std::string storage;                    // a row of storages(); empty: the engine's paper's
  std::string medium = "optane";          // of the NVRAM: a profile of medium/profiles.h
  uint64_t dram_bytes = 32 * kGiB;
  uint64_t nvram_bytes = 64 * kGiB;
  uint64_t dataset_bytes = 0;     // 0: the paper's of this workload (*Writes Hurt*, Tables 2, 3)
  uint64_t page_cache_bytes = 0;  // 0: half of the DRAM, 40 GiB at most (*Writes Hurt*, section
                                  // 4), and for YCSB alone; else the paper's (Table 2)
  uint64_t tier_bytes = 0;        // of the NVRAM that the tier can use; 0: all of it
  uint32_t clients = 0;           // 0: the paper's of this workload (*Writes Hurt*, Tables 2, 3)
  uint32_t cores = 0;             // 0: the paper's, 32 (*Writes Hurt*, section 3.2.1: two of 16)
                                  // or 24 with rocksdb (*Hybrid Cache*, Table 2)
  double minutes = 60;            // the run, tiers and caches empty at first (section 3.2.3)
  uint64_t seed = 1;              // of keys, operations, and where memory lies
  uint32_t scale = 256;           // 1 to 4096
};

// Times of one kind of operation, in ns.
struct Latency {
  double mean_ns = 0;
  uint64_t p50_ns = 0;
  uint64_t p95_ns = 0;
  uint64_t p99_ns = 0;
};

// Counted by the engine memcached beside; zeros with any other.
struct StoreCounts {
  uint64_t flushed_lines = 0;  // of 64 bytes
  uint64_t drains = 0;
  uint64_t write_cache_hits = 0;
  uint64_t relocated_bytes = 0;
  uint64_t refused = 0;
};

// Counts of what was simulated; bytes and operations are of the scaled run. Multiply them by
// `scale` for those of the whole machine. Rates and ratios are of the whole machine as they are.
struct Result {
  Options options;  // without zeros: as they were used

  double seconds = 0;  // simulated, of the scaled run: 60 * minutes / scale
  uint64_t operations = 0;
  double ops_per_second = 0;
  uint64_t reads = 0;    // by kind; memcached's GETs
  uint64_t updates = 0;  // memcached's SETs and DELETEs
  uint64_t inserts = 0;
  uint64_t scans = 0;
  Latency latency;         // of all operations
  Latency read_latency;    // of reads and scans
  Latency update_latency;  // of updates and inserts; zeros without any

  // Of the second half of the run, when caches are warm.
  double warm_ops_per_second = 0;
  double warm_tier_hit_ratio = 0;
  Latency warm_read_latency;  // of reads and scans
  uint64_t warm_storage_read_bytes = 0;
  double warm_hit_ratio = 0;     // rocksdb: blocks that were found in any tier
  Latency warm_storage_latency;  // rocksdb: of reads of blocks

  // Operations per second in each of 60 even parts of the run, and their standard deviation over
  // their mean in the second half.
  std::vector<double> interval_ops_per_second;
  double interval_variation = 0;

  // The engine's page cache: lookups = hits + misses. Of rocksdb, the block cache's first tier.
  uint64_t page_lookups = 0;
  uint64_t page_hits = 0;
  // The OS page cache, of what reached it.
  uint64_t os_lookups = 0;
  uint64_t os_hits = 0;
  // The tier: zeros without one, as with Memory Mode. Of the engine memcached, which is a cache
  // itself: GETs and those that found a value, SETs, and items that were evicted or deleted.
  uint64_t tier_lookups = 0;
  uint64_t tier_hits = 0;
  double tier_hit_ratio = 0;
  uint64_t tier_inserts = 0;
  uint64_t tier_removals = 0;
  double tier_used_share = 0;  // of its space, in the end
  // Memory Mode: lines of NVRAM that were found in DRAM. Zeros with any other configuration.
  uint64_t line_lookups = 0;
  uint64_t line_hits = 0;

  StoreCounts store;

  uint64_t nvram_read_bytes = 0;
  uint64_t nvram_written_bytes = 0;
  uint64_t storage_read_bytes = 0;
  uint64_t storage_written_bytes = 0;
  uint64_t blocks_written = 0;  // by the engine, evictions and checkpoints
  uint64_t checkpoints = 0;
  uint64_t table_scans = 0;  // of whole tables, beside the operations

  double page_hit_ratio() const { return ratio(page_hits, page_lookups); }
  double os_hit_ratio() const { return ratio(os_hits, os_lookups); }
  double line_hit_ratio() const { return ratio(line_hits, line_lookups); }

 private:
  static double ratio(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

// A row of a table: a name, and what it stands for.
struct Named {
  std::string_view name;
  std::string_view help;
};
std::vector<Named> engines();   // "wiredtiger" and others
std::vector<Named> storages();  // "p4800x" and others
// The names that an engine can be asked for: "a" to "e" and others; "none", "nvcache" and others.
// None of an engine that there is not.
std::vector<Named> workloads(std::string_view engine = "wiredtiger");
std::vector<Named> configurations(std::string_view engine = "wiredtiger");

// Called now and then with the share that is done, 0 to 1. An error ends the simulation with it.
using OnProgress = std::function<Status(double share)>;

// INVALID_ARGUMENT names the option, what was given and what is allowed. RESOURCE_EXHAUSTED: there
// is no memory for so large a simulation. What `on_progress` returns, if that is an error.
[[nodiscard]] StatusOr<Result> simulate(const Options& options, const OnProgress& on_progress = {});

// Checks the options, and fills in what is 0. As simulate() does first.
[[nodiscard]] StatusOr<Options> complete(const Options& options);

}  // namespace nvcache::simulate
