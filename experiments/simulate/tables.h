// The rows that a simulation is put together from: configurations of the second tier of WiredTiger,
// the workloads of *Writes Hurt*, and disks. Engines with other configurations and workloads have
// tables of their own. Errors, help and the page of results read them. Constants.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "experiments/simulate/simulate.h"

namespace nvcache::simulate {

// Where the tier of a configuration sits.
enum class Place : uint8_t {
  kNone,      // there is none
  kInEngine,  // beside the engine's block manager, above the OS page cache (*Writes Hurt*, 3.1)
  kBelowOs,   // a block device below the OS page cache, as Open CAS is
};

// The memory of the engine and the OS.
enum class MemoryKind : uint8_t {
  kDram,        // the DRAM
  kAllDram,     // DRAM of the size of both
  kMemoryMode,  // the NVRAM, with the DRAM as its cache (*Writes Hurt*, section 4.1.1)
};

struct ConfigurationRow {
  std::string_view name;
  std::string_view help;
  Place place = Place::kNone;
  MemoryKind memory = MemoryKind::kDram;
  // Of the tier; {dram} and {lfru} stand for the DRAM's size and the window of lfru, scaled.
  std::string_view admission = "";
  std::string_view eviction = "";
  double lfru_window_seconds = 10;    // of the whole machine
  bool offers_writes = false;         // blocks that the engine writes are offered
  bool erases_freed = false;          // the engine tells of blocks that it frees
  double usable_share = 1;            // of the NVRAM that holds data
  uint32_t removal_writes_bytes = 0;  // to the NVRAM, for each block that is removed
};

// tidy: longer because it is a table.
inline constexpr auto kConfigurations = std::to_array<ConfigurationRow>({
    {.name = "none", .help = "DRAM alone, no NVRAM"},
    {.name = "nvcache",
     .help = "NVCache: small-bypass, OBP at 10%, LFRU (preset=writes_hurt)",
     .place = Place::kInEngine,
     .admission = "small_bypass({dram})+obp(0.1)",
     .eviction = "lfru({lfru})",
     .offers_writes = true,
     .erases_freed = true},
    {.name = "nvcache-fs",
     .help = "as nvcache, in WiredTiger's file system, where freed blocks stay until overwritten",
     .place = Place::kInEngine,
     .admission = "small_bypass({dram})+obp(0.1)",
     .eviction = "lfru({lfru})",
     .offers_writes = true},
    {.name = "nvcache-obp5",
     .help = "as nvcache, OBP at 5%",
     .place = Place::kInEngine,
     .admission = "small_bypass({dram})+obp(0.05)",
     .eviction = "lfru({lfru})",
     .offers_writes = true,
     .erases_freed = true},
    {.name = "nvcache-obp30",
     .help = "as nvcache, OBP at 30%",
     .place = Place::kInEngine,
     .admission = "small_bypass({dram})+obp(0.3)",
     .eviction = "lfru({lfru})",
     .offers_writes = true,
     .erases_freed = true},
    {.name = "auto",
     .help = "nvcache's default policies: break_even, auto (preset=auto)",
     .place = Place::kInEngine,
     .admission = "break_even",
     .eviction = "auto",
     .offers_writes = true,
     .erases_freed = true},
    {.name = "admit-all",
     .help = "every block that is read or written is admitted, LRU",
     .place = Place::kInEngine,
     .admission = "always",
     .eviction = "lru",
     .offers_writes = true,
     .erases_freed = true},
    {.name = "admit-all-fs",
     .help = "as admit-all, in WiredTiger's file system",
     .place = Place::kInEngine,
     .admission = "always",
     .eviction = "lru",
     .offers_writes = true},
    {.name = "eager",
     .help = "as admit-all, with NVCache's LFRU",
     .place = Place::kInEngine,
     .admission = "always",
     .eviction = "lfru({lfru})",
     .offers_writes = true,
     .erases_freed = true},
    {.name = "no-eviction",
     .help = "as admit-all, until the tier is full",
     .place = Place::kInEngine,
     .admission = "always",
     .eviction = "none",
     .offers_writes = true,
     .erases_freed = true},
    {.name = "open-cas",
     .help = "as Open CAS, write-around: a block device that admits each read, LRU",
     .place = Place::kBelowOs,
     .admission = "always",
     .eviction = "lru"},
    // Its allocator keeps metadata in the NVRAM: 180 of 252 GB are filled (the Memory Mode text,
    // Figure 2), and a removal writes there (*Writes Hurt*, 3.2.3). How much is our choice: one
    // line of the DIMM. The window is the default of blkcache_eviction_aggression.
    {.name = "wt-nvram",
     .help = "WiredTiger's own block cache, type=nvram: OBP at 10%, blocks unused for 30 minutes",
     .place = Place::kInEngine,
     .admission = "small_bypass({dram})+obp(0.1)",
     .eviction = "lfru({lfru})",
     .lfru_window_seconds = 1800,
     .offers_writes = true,
     .erases_freed = true,
     .usable_share = 180.0 / 252.0,
     .removal_writes_bytes = 256},
    {.name = "dram",
     .help = "DRAM of the size of DRAM and NVRAM together, no NVRAM",
     .memory = MemoryKind::kAllDram},
    {.name = "memory-mode",
     .help = "Intel Memory Mode: the NVRAM is the memory, the DRAM its direct-mapped cache",
     .memory = MemoryKind::kMemoryMode},
});

// A disk. GB/s as in medium/profiles.h.
struct StorageRow {
  std::string_view name;
  std::string_view help;
  double read_gb_s;
  double write_gb_s;
  uint64_t read_latency_ns;
  uint64_t write_latency_ns;
  double operations_per_second;  // at most, of reads and writes together
  uint32_t dies = 0;             // that serve pages, each one at a time; 0: not followed
};

inline constexpr auto kStorages = std::to_array<StorageRow>({
    // Throughputs: *Writes Hurt*, section 3.2.1. Latency and rate: Intel's data sheet.
    {"p4800x", "Intel Optane SSD P4800X: 2.5 / 2.2 GB/s", 2.5, 2.2, 10'000, 10'000, 550'000},
    // Reads: *Hybrid Cache*, Table 1. Writes: as medium/profiles.h. Rate: our choice.
    {"nvme-flash", "an NVMe flash drive: 1.6 / 1.0 GB/s, 85 us", 1.6, 1.0, 85'000, 20'000, 400'000},
    // The bound of SATA 3; the rest is our choice.
    {"sata-flash", "a SATA flash drive: 0.55 / 0.52 GB/s, 100 us", 0.55, 0.52, 100'000, 50'000,
     90'000},
    // Our choice, of the order of what clouds sell.
    {"network", "a network disk: 1 GB/s and 16,000 operations a second at most, 500 us", 1.0, 1.0,
     500'000, 500'000, 16'000},
    // As nvme-flash. All dies together, 85 us a page, give its rate.
    {"flash", "as nvme-flash, with 34 dies, each of which serves a page at a time", 1.6, 1.0,
     85'000, 20'000, 400'000, 34},
});

// Which records are asked for.
enum class Popularity : uint8_t {
  kZipfian,  // YCSB's scrambled zipfian
  kLatest,   // YCSB's skewed latest
  kUniform,
  kPareto,  // wtperf's pareto=20: the first records of the table
};

// Clients that insert or update alone, with an upper limit each (wtperf's throttle). They are among
// the workload's clients. One that is late makes up for a second at most.
struct ThrottledClients {
  uint32_t inserting = 0;
  uint32_t updating = 0;
  uint32_t operations_per_second = 0;  // of each, at most
  uint32_t sum() const { return inserting + updating; }
};

// One more client scans tables that the others leave alone, one search a row, and waits before each
// time (wtperf's scan_interval). As wtperf's, it does not take row after row: it goes through the
// tables in jumps of `rows_apart`, and again from the next row on, until it has had all of them.
struct ScannedTables {
  double share = 0;  // of the dataset
  double interval_seconds = 0;
  uint32_t rows_apart = 0;
};

// YCSB A to E: *Writes Hurt*, Table 3, and YCSB's own mixes. The others: Table 2, with the rows and
// popularities of WiredTiger's runners of the same name. GB are taken for 2^30 bytes.
struct WorkloadRow {
  std::string_view name;
  std::string_view help;
  double read, update, insert, scan;  // shares of the operations
  Popularity popularity;
  uint32_t clients;
  uint64_t dataset_gib;
  uint64_t page_cache_gib;  // 0: by the DRAM
  uint32_t records_per_page;
  bool appends = false;  // records that are inserted fill new pages, one after the other
  ThrottledClients throttled = {};
  ScannedTables scanned = {};
};

inline constexpr auto kWorkloads = std::to_array<WorkloadRow>({
    // 1000 bytes of fields, a key of up to 23, and the cells, in 28 KiB.
    {"a", "YCSB A", 0.5, 0.5, 0, 0, Popularity::kZipfian, 20, 130, 0, 27},
    {"b", "YCSB B", 0.95, 0.05, 0, 0, Popularity::kZipfian, 20, 194, 0, 27},
    {"c", "YCSB C", 1, 0, 0, 0, Popularity::kZipfian, 20, 259, 0, 27},
    {"d", "YCSB D", 0.95, 0, 0.05, 0, Popularity::kLatest, 100, 219, 0, 27},
    {"e", "YCSB E", 0, 0, 0.05, 0.95, Popularity::kZipfian, 20, 210, 0, 27},
    // wtperf's rows: 20 and 100 bytes.
    {"evict-btree", "evict-btree", 1, 0, 0, 0, Popularity::kUniform, 16, 120, 28, 220},
    // 150 bytes; 10^9 rows, and 4 * 10^8 in the scanned tables, in 250 GiB.
    {"evict-btree-scan",
     "evict-btree-scan",
     1,
     0,
     0,
     0,
     Popularity::kUniform,
     430,
     250,
     28,
     150,
     true,
     {20, 10, 500},
     {0.4 / 1.4, 600, 1000}},
    {"medium-btree", "medium-btree", 1, 0, 0, 0, Popularity::kUniform, 16, 120, 28, 220},
    {"evict-bt-stress-multi", "evict-bt-stress-multi", 0.8, 0.2, 0, 0, Popularity::kUniform, 100,
     250, 1, 220},
    {"500m-btree-50r50u", "500m-btree-50r50u", 0.5, 0.5, 0, 0, Popularity::kPareto, 20, 163, 28,
     170},
    {"chkpt-stress", "chkpt-stress", 0, 1, 0, 0, Popularity::kUniform, 6, 134, 28, 27},
});

// Names of rows, for users.
template <typename Rows>
std::vector<Named> named(const Rows& rows) {
  std::vector<Named> list;
  for (const auto& row : rows) list.push_back({row.name, row.help});
  return list;
}

template <typename Rows>
constexpr auto find_row(const Rows& rows, std::string_view name) -> decltype(rows.data()) {
  for (const auto& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace nvcache::simulate
