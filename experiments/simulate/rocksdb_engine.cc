// The row of RocksDB: the servers, policies and profiles of *Hybrid Cache*.
#include <array>
#include <string>
#include <string_view>

#include "experiments/simulate/engines.h"
#include "experiments/simulate/rocksdb_configurations.h"
#include "experiments/simulate/rocksdb_model.h"
#include "experiments/simulate/simulate_report.h"
#include "experiments/simulate/tables.h"
#include "fmt/format.h"

namespace nvcache::simulate {
namespace {

// By default.
constexpr auto kRocksdbWorkloads = std::to_array<std::string_view>({"whatsapp"});
constexpr auto kRocksdbConfigurations =
    std::to_array<std::string_view>({"64-0/dram-only", "32-256/dram-first", "32-256/memory-mode"});

std::string warm_hits(const TableRow& row) {
  return percent(median(row.seeds, [](const Result& r) { return r.warm_hit_ratio; }));
}

// Of a read of the disk, in the second half.
template <auto kQuantile>
std::string warm_disk_microseconds(const TableRow& row) {
  const double ns =
      median(row.seeds, [](const Result& r) { return r.warm_storage_latency.*kQuantile; });
  return fmt::format("{:.0f}", ns * 1e-3);
}

constexpr auto kRocksdbColumns = std::to_array<Column>({
    {"NVRAM, GiB", "NVRAM", 5, cells::nvram},
    {"configuration", "configuration", 18, cells::configuration},
    {"ops/s", "ops/s", 8, cells::ops},
    {"64-0 = 1", "x 64-0", 6, cells::over_base},
    {"first tier hits, %", "1st%", 5, cells::page_hits},
    {"tier or line hits, %", "tier%", 5, cells::tier_hits},
    {"warm hits, %", "warm%", 5, warm_hits},
    {"NVRAM read, GB/s", "nv.rd", 6, cells::gb_s<&Result::nvram_read_bytes>},
    {"NVRAM written, GB/s", "nv.wr", 6, cells::gb_s<&Result::nvram_written_bytes>},
    {"disk read, GB/s", "dsk.rd", 6, cells::gb_s<&Result::storage_read_bytes>},
    {"disk written, GB/s", "dsk.wr", 6, cells::gb_s<&Result::storage_written_bytes>},
    {"p50, us", "p50us", 5, cells::microseconds<&Latency::p50_ns>},
    {"p99, us", "p99us", 5, cells::microseconds<&Latency::p99_ns>},
    {"warm disk read p50, us", "", 0, warm_disk_microseconds<&Latency::p50_ns>},
    {"warm disk read p95, us", "", 0, warm_disk_microseconds<&Latency::p95_ns>},
    {"deviation over time, %", "", 0, cells::over_time},
    {"deviation by seed, %", "", 0, cells::by_seed},
});

// A profile goes by its name.
Heading rocksdb_heading(const Options& options) {
  const WorkloadRow* const ycsb = find_row(kWorkloads, options.workload);
  return {.workload = ycsb == nullptr ? options.workload : std::string(ycsb->help),
          .machine = fmt::format(", rocksdb, {}", options.storage)};
}

std::string rocksdb_introduction(const Options& options, const std::string& command) {
  return introduction_of_tiers("RocksDB", "TieredCache", "64-0", options, command);
}

}  // namespace

constinit const EngineRow kRocksdbEngine = {
    .name = "rocksdb",
    .help = "RocksDB: block cache in DRAM and NVRAM, memtables, leveled compaction",
    .base = "64-0/dram-only",
    .storage = "flash",
    .cores = 24,
    .workloads = rocksdb_workloads,
    .configurations = rocksdb_configurations,
    .default_workloads = kRocksdbWorkloads,
    .default_configurations = kRocksdbConfigurations,
    .complete = complete_rocksdb,
    .make = make_rocksdb,
    .columns = kRocksdbColumns,
    .heading = rocksdb_heading,
    .introduction = rocksdb_introduction,
    .page_end = page_end,
};

}  // namespace nvcache::simulate
