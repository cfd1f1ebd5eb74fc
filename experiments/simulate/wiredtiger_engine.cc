// The row of WiredTiger: workloads, sizes and second tiers of *Writes Hurt*.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/units.h"
#include "experiments/simulate/engines.h"
#include "experiments/simulate/main_memory.h"
#include "experiments/simulate/option_checks.h"
#include "experiments/simulate/simulate_report.h"
#include "experiments/simulate/tables.h"
#include "experiments/simulate/tier.h"
#include "experiments/simulate/wiredtiger_model.h"
#include "experiments/workload/ycsb.h"
#include "fmt/format.h"
#include "medium/profiles.h"

namespace nvcache::simulate {
namespace {

constexpr uint64_t kMostPageCacheBytes = 40 * kGiB;  // *Writes Hurt*, section 4
constexpr uint64_t kMostWays = 100;                  // a byte holds the tag of a line, and more

// By default.
constexpr auto kWiredtigerWorkloads = std::to_array<std::string_view>({"c"});
constexpr auto kWiredtigerConfigurations =
    std::to_array<std::string_view>({"none", "nvcache", "memory-mode"});

const ConfigurationRow* row_of(const Options& options) {
  return find_row(kConfigurations, options.configuration);
}

// The memory that page cache and OS page cache share.
uint64_t memory_bytes(const Options& options, const ConfigurationRow& row) {
  switch (row.memory) {
    case MemoryKind::kDram:
      return options.dram_bytes;
    case MemoryKind::kAllDram:
      return options.dram_bytes + options.nvram_bytes;
    case MemoryKind::kMemoryMode:
      return options.nvram_bytes;
  }
  return options.dram_bytes;
}

Status check_sizes(const Options& options, const ConfigurationRow& row) {
  const uint64_t least = kFewestBlocks * kBlockBytes * options.scale;
  Status status = check_size("--dram", options.dram_bytes, least, kMaxBytes);
  if (status.ok()) status = check_size("--nvram", options.nvram_bytes, least, kMaxBytes);
  if (status.ok()) status = check_size("--dataset", options.dataset_bytes, least, kMaxBytes);
  if (status.ok()) {
    status =
        check_size("--page-cache", options.page_cache_bytes, least, memory_bytes(options, row));
  }
  if (status.ok()) status = check_size("--tier", options.tier_bytes, least, options.nvram_bytes);
  if (!status.ok()) return status;
  if (row.memory != MemoryKind::kMemoryMode) return ok_status();
  if (options.nvram_bytes < options.dram_bytes ||
      options.nvram_bytes > kMostWays * options.dram_bytes) {
    return invalid_argument(
        "--nvram: {} given; allowed with memory-mode are 1 to {} times the DRAM ({})",
        format_bytes(options.nvram_bytes), +kMostWays, format_bytes(options.dram_bytes));
  }
  return ok_status();
}

Status check_clients(const Options& options, const WorkloadRow& workload) {
  const uint32_t throttled = workload.throttled.sum();
  if (options.clients <= throttled && throttled > 0) {
    return invalid_argument("--clients: {} given; allowed with {} are {} to 100000",
                            options.clients, options.workload, throttled + 1);
  }
  return ok_status();
}

Status complete_wiredtiger(Options* options) {
  const ConfigurationRow& row = *find_row(kConfigurations, options->configuration);
  const WorkloadRow& workload = *find_row(kWorkloads, options->workload);
  if (options->clients == 0) options->clients = workload.clients;
  if (options->dataset_bytes == 0) options->dataset_bytes = workload.dataset_gib * kGiB;
  if (options->page_cache_bytes == 0) options->page_cache_bytes = workload.page_cache_gib * kGiB;
  if (options->page_cache_bytes == 0) {
    const uint64_t dram_bytes =
        row.memory == MemoryKind::kAllDram ? memory_bytes(*options, row) : options->dram_bytes;
    options->page_cache_bytes = std::min(dram_bytes / 2, kMostPageCacheBytes);
  }
  if (options->tier_bytes == 0) options->tier_bytes = options->nvram_bytes;
  Status status = check_sizes(*options, row);
  return status.ok() ? check_clients(*options, workload) : status;
}

std::unique_ptr<MainMemory> make_wiredtiger_memory(const Options& options) {
  if (row_of(options)->memory != MemoryKind::kMemoryMode) return make_dram();
  return make_memory_mode(options.dram_bytes / options.scale, options.nvram_bytes / options.scale,
                          *find_profile(options.medium), wiredtiger_places(options),
                          thread_seed(options.seed, options.clients));
}

StatusOr<std::unique_ptr<Tier>> make_wiredtiger_tier(const Options& options) {
  const ConfigurationRow& row = *row_of(options);
  if (row.place == Place::kNone) return std::unique_ptr<Tier>();
  return Tier::open(options, row);
}

bool wiredtiger_needs_nvram(const Options& options) {
  const ConfigurationRow* const row = row_of(options);
  return row != nullptr && (row->place != Place::kNone || row->memory != MemoryKind::kDram);
}

bool is_memory_mode(const Options& options) {
  const ConfigurationRow* const row = row_of(options);
  return row != nullptr && row->memory == MemoryKind::kMemoryMode;
}

std::string os_hits(const TableRow& row) {
  return percent(median(row.seeds, [](const Result& r) { return r.os_hit_ratio(); }));
}

constexpr auto kWiredtigerColumns = std::to_array<Column>({
    {"NVRAM, GiB", "NVRAM", 5, cells::nvram},
    {"configuration", "configuration", 18, cells::configuration},
    {"ops/s", "ops/s", 8, cells::ops},
    {"none = 1", "x none", 6, cells::over_base},
    {"page cache hits, %", "page%", 5, cells::page_hits},
    {"OS page cache hits, %", "OS%", 5, os_hits},
    {"tier or line hits, %", "tier%", 5, cells::tier_hits},
    {"NVRAM read, GB/s", "nv.rd", 6, cells::gb_s<&Result::nvram_read_bytes>},
    {"NVRAM written, GB/s", "nv.wr", 6, cells::gb_s<&Result::nvram_written_bytes>},
    {"disk read, GB/s", "dsk.rd", 6, cells::gb_s<&Result::storage_read_bytes>},
    {"disk written, GB/s", "dsk.wr", 6, cells::gb_s<&Result::storage_written_bytes>},
    {"p50, us", "p50us", 5, cells::microseconds<&Latency::p50_ns>},
    {"p99, us", "p99us", 5, cells::microseconds<&Latency::p99_ns>},
    {"deviation over time, %", "", 0, cells::over_time},
    {"deviation by seed, %", "", 0, cells::by_seed},
});

Heading wiredtiger_heading(const Options& options) {
  return {
      .workload = std::string(find_row(kWorkloads, options.workload)->help),
      .machine = fmt::format(", {} GiB of DRAM, {}", options.dram_bytes >> 30, options.storage)};
}

std::string wiredtiger_introduction(const Options& options, const std::string& command) {
  return introduction_of_tiers("WiredTiger", "BlockCache", "none", options, command);
}

}  // namespace

constinit const EngineRow kWiredtigerEngine = {
    .name = "wiredtiger",
    .help = "WiredTiger: page cache, blocks that are never overwritten, checkpoints",
    .base = "none",
    .storage = "p4800x",
    .cores = 32,
    .workloads = [] { return named(kWorkloads); },
    .configurations = [] { return named(kConfigurations); },
    .default_workloads = kWiredtigerWorkloads,
    .default_configurations = kWiredtigerConfigurations,
    .complete = complete_wiredtiger,
    .make = make_wiredtiger,
    .make_memory = make_wiredtiger_memory,
    .make_tier = make_wiredtiger_tier,
    .needs_nvram = wiredtiger_needs_nvram,
    .nvram_is_memory = is_memory_mode,
    .columns = kWiredtigerColumns,
    .heading = wiredtiger_heading,
    .introduction = wiredtiger_introduction,
    .page_end = page_end,
    .shows_spread = true,
};

}  // namespace nvcache::simulate
