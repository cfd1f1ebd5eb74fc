#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "experiments/simulate/engine_model.h"
#include "experiments/simulate/option_checks.h"
#include "experiments/simulate/simulate.h"
#include "experiments/simulate/tables.h"
#include "fmt/ranges.h"
#include "medium/profiles.h"

namespace nvcache::simulate {
namespace {

constexpr uint32_t kMaxScale = 4096;
constexpr uint64_t kMostPageCacheBytes = 40 * kGiB;  // *Writes Hurt*, section 4
constexpr uint64_t kMostWays = 100;                  // a byte holds the tag of a line, and more

template <typename Rows>
std::vector<Named> named(const Rows& rows) {
  std::vector<Named> list;
  for (const auto& row : rows) list.push_back({row.name, row.help});
  return list;
}

template <typename Rows>
std::vector<Named> named_of(const Rows& rows, std::string_view engine) {
  std::vector<Named> list;
  for (const auto& row : rows) {
    if (row.engine == engine) list.push_back({row.name, row.help});
  }
  return list;
}

Status check_name(std::string_view option, std::string_view given, const std::vector<Named>& rows) {
  std::vector<std::string_view> names;
  for (const Named& row : rows) {
    if (row.name == given) return ok_status();
    names.push_back(row.name);
  }
  return invalid_argument("{}: no '{}'; allowed are {}", option, given, fmt::join(names, ", "));
}

Status check_names(const Options& options, const EngineRow& engine) {
  Status status = check_name("--workload", options.workload, engine.workloads());
  if (status.ok()) {
    status = check_name("--config", options.configuration, engine.configurations());
  }
  if (status.ok()) status = check_name("--storage", options.storage, storages());
  if (!status.ok()) return status;
  if (find_profile(options.medium) == nullptr) {
    return invalid_argument("--medium: no '{}'; allowed are {}", options.medium, profile_names());
  }
  return ok_status();
}

Status check_scale(const Options& options) {
  if (options.scale >= 1 && options.scale <= kMaxScale) return ok_status();
  return invalid_argument("--scale: {} given; allowed are 1 to {}", options.scale, +kMaxScale);
}

Status check_numbers(const Options& options) {
  if (options.clients < 1 || options.clients > 100'000) {
    return invalid_argument("--clients: {} given; allowed are 1 to 100000", options.clients);
  }
  const WorkloadRow* const workload = find_row(kWorkloads, options.workload);
  const uint32_t throttled = workload == nullptr ? 0 : workload->throttled.sum();
  if (options.clients <= throttled && throttled > 0) {
    return invalid_argument("--clients: {} given; allowed with {} are {} to 100000",
                            options.clients, options.workload, throttled + 1);
  }
  if (options.cores < 1 || options.cores > 4096) {
    return invalid_argument("--cores: {} given; allowed are 1 to 4096", options.cores);
  }
  if (!(options.minutes > 0) || options.minutes > 100'000) {
    return invalid_argument("--minutes: {} given; allowed are more than 0, to 100000",
                            options.minutes);
  }
  return ok_status();
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

}  // namespace

Status check_size(std::string_view option, uint64_t bytes, uint64_t least, uint64_t most) {
  if (bytes >= least && bytes <= most) return ok_status();
  return invalid_argument("{}: {} given; allowed are {} to {}", option, format_bytes(bytes),
                          format_bytes(least), format_bytes(most));
}

std::vector<Named> engines() { return named(kEngines); }
std::vector<Named> storages() { return named(kStorages); }

std::vector<Named> wiredtiger_workloads() { return named_of(kWorkloads, "wiredtiger"); }
std::vector<Named> wiredtiger_configurations() { return named_of(kConfigurations, "wiredtiger"); }
std::vector<Named> memcached_workloads() { return named_of(kWorkloads, "memcached"); }
std::vector<Named> memcached_configurations() { return named_of(kConfigurations, "memcached"); }

std::vector<Named> workloads(std::string_view engine) {
  const EngineRow* const row = find_row(kEngines, engine);
  return row == nullptr ? std::vector<Named>() : row->workloads();
}

std::vector<Named> configurations(std::string_view engine) {
  const EngineRow* const row = find_row(kEngines, engine);
  return row == nullptr ? std::vector<Named>() : row->configurations();
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
  return check_sizes(*options, row);
}

StatusOr<Options> complete(const Options& given) {
  Options options = given;
  options.workload = lower(options.workload);
  Status status = check_name("--engine", options.engine, engines());
  if (!status.ok()) return status;
  const EngineRow& engine = *find_row(kEngines, options.engine);
  if (options.storage.empty()) options.storage = engine.storage;
  if (options.cores == 0) options.cores = engine.cores;
  status = check_names(options, engine);
  if (status.ok()) status = check_scale(options);
  if (status.ok()) status = engine.complete(&options);
  if (status.ok()) status = check_numbers(options);
  if (!status.ok()) return status;
  return options;
}

}  // namespace nvcache::simulate
