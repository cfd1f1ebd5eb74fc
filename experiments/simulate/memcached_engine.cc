// The row of memcached: the systems and traces of *NVMcached*. It uses no disk.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "experiments/simulate/engines.h"
#include "experiments/simulate/memcached_model.h"
#include "experiments/simulate/simulate_report.h"
#include "fmt/format.h"

namespace nvcache::simulate {
namespace {

// By default.
constexpr auto kMemcachedWorkloads = std::to_array<std::string_view>({"sys", "var"});
constexpr auto kMemcachedConfigurations =
    std::to_array<std::string_view>({"mc-nvm", "mc-nvlru", "nvmcached", "mc-dram"});

template <auto kQuantile>
std::string nanoseconds(const TableRow& row) {
  return fmt::format("{:.0f}", cells::latency_ns<kQuantile>(row));
}

template <auto kCount>
std::string per_operation(const TableRow& row) {
  return fmt::format("{:.2f}", median(row.seeds, [](const Result& r) {
                       return static_cast<double>(r.store.*kCount) /
                              static_cast<double>(std::max<uint64_t>(1, r.operations));
                     }));
}

constexpr auto kMemcachedColumns = std::to_array<Column>({
    {"NVRAM, GiB", "NVRAM", 5, cells::nvram},
    {"configuration", "configuration", 13, cells::configuration},
    {"ops/s", "ops/s", 8, cells::ops},
    {"mc-nvm = 1", "x nvm", 6, cells::over_base},
    {"GET hits, %", "hit%", 5, cells::tier_hits},
    {"lines flushed an operation", "lines", 6, per_operation<&StoreCounts::flushed_lines>},
    {"drains an operation", "drains", 6, per_operation<&StoreCounts::drains>},
    {"write cache hits an operation", "w.cache", 7, per_operation<&StoreCounts::write_cache_hits>},
    {"memory read, GB/s", "nv.rd", 6, cells::gb_s<&Result::nvram_read_bytes>},
    {"memory written, GB/s", "nv.wr", 6, cells::gb_s<&Result::nvram_written_bytes>},
    {"p50, ns", "p50ns", 6, nanoseconds<&Latency::p50_ns>},
    {"p99, ns", "p99ns", 6, nanoseconds<&Latency::p99_ns>},
    {"deviation over time, %", "", 0, cells::over_time},
    {"deviation by seed, %", "", 0, cells::by_seed},
});

constexpr char kStoreIntroduction[] = R"(# Simulated: memcached on NVRAM, the systems of *NVMcached*

**Every figure on this page is simulated.** None was measured on NVRAM, and none is fitted to the
numbers of a paper. The cache is the real `KvStore`, with the durability of each of the four
systems; memory, processors and clients are a model. Sizes are 1/{} of those that are named, with
every period of time; rates, latencies, clients and cores are whole. Written by

    {}

"mc-nvm = 1" compares with MC-NVM, of the same workload. Deviations are standard deviations over the
mean: over time of the 30 even parts of the second half, by seed of the whole runs.

## Results

)";

std::string memcached_introduction(const Options& options, const std::string& command) {
  return fmt::format(kStoreIntroduction, options.scale, command);
}

Heading memcached_heading(const Options& options) {
  return {.workload = std::string(find_memcached_workload(options.workload)->help), .machine = ""};
}

}  // namespace

constinit const EngineRow kMemcachedEngine = {
    .name = "memcached",
    .help = "the systems of NVMcached: the real KvStore in NVRAM or DRAM",
    .base = "mc-nvm",
    // As WiredTiger's.
    .storage = "p4800x",
    .cores = 32,
    .workloads = memcached_workloads,
    .configurations = memcached_configurations,
    .default_workloads = kMemcachedWorkloads,
    .default_configurations = kMemcachedConfigurations,
    .complete = complete_memcached,
    .make = make_memcached,
    .needs_nvram = [](const Options&) { return true; },
    .columns = kMemcachedColumns,
    .heading = memcached_heading,
    .introduction = memcached_introduction,
    .page_end = store_page_end,
};

}  // namespace nvcache::simulate
