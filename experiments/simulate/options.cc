#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/simulate/engine_model.h"
#include "experiments/simulate/simulate.h"
#include "experiments/simulate/tables.h"
#include "fmt/ranges.h"
#include "medium/profiles.h"

namespace nvcache::simulate {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 44;
constexpr uint64_t kFewestBlocks = 64;  // of a scaled cache: fewer say little
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

template <typename Rows>
bool has_row(const Rows& rows, std::string_view name, std::string_view engine) {
  const auto* row = find_row(rows, name);
  return row != nullptr && row->engine == engine;
}

absl::Status unknown(std::string_view option, std::string_view given,
                     const std::vector<Named>& rows) {
  std::vector<std::string_view> names;
  for (const Named& row : rows) names.push_back(row.name);
  return invalid_argument("{}: no '{}'; allowed are {}", option, given, fmt::join(names, ", "));
}

absl::Status check_names(const Options& options) {
  if (find_row(kEngines, options.engine) == nullptr) {
    return unknown("--engine", options.engine, engines());
  }
  if (!has_row(kWorkloads, options.workload, options.engine)) {
    return unknown("--workload", options.workload, workloads(options.engine));
  }
  if (!has_row(kConfigurations, options.configuration, options.engine)) {
    return unknown("--config", options.configuration, configurations(options.engine));
  }
  if (find_row(kStorages, options.storage) == nullptr) {
    return unknown("--storage", options.storage, storages());
  }
  if (find_profile(options.medium) == nullptr) {
    return invalid_argument("--medium: no '{}'; allowed are {}", options.medium, profile_names());
  }
  return absl::OkStatus();
}

absl::Status check_numbers(const Options& options) {
  if (options.clients < 1 || options.clients > 100'000) {
    return invalid_argument("--clients: {} given; allowed are 1 to 100000", options.clients);
  }
  const uint32_t throttled = find_row(kWorkloads, options.workload)->throttled.sum();
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
  if (options.scale < 1 || options.scale > kMaxScale) {
    return invalid_argument("--scale: {} given; allowed are 1 to {}", options.scale, +kMaxScale);
  }
  return absl::OkStatus();
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

absl::Status check_sizes(const Options& options, const ConfigurationRow& row) {
  const uint64_t least = kFewestBlocks * kBlockBytes * options.scale;
  absl::Status status = check_size("--dram", options.dram_bytes, least, kMaxBytes);
  if (status.ok()) status = check_size("--nvram", options.nvram_bytes, least, kMaxBytes);
  if (status.ok()) status = check_size("--dataset", options.dataset_bytes, least, kMaxBytes);
  if (status.ok()) {
    status =
        check_size("--page-cache", options.page_cache_bytes, least, memory_bytes(options, row));
  }
  if (status.ok()) status = check_size("--tier", options.tier_bytes, least, options.nvram_bytes);
  if (!status.ok()) return status;
  if (row.memory != MemoryKind::kMemoryMode) return absl::OkStatus();
  if (options.nvram_bytes < options.dram_bytes ||
      options.nvram_bytes > kMostWays * options.dram_bytes) {
    return invalid_argument(
        "--nvram: {} given; allowed with memory-mode are 1 to {} times the DRAM ({})",
        format_bytes(options.nvram_bytes), +kMostWays, format_bytes(options.dram_bytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_size(std::string_view option, uint64_t bytes, uint64_t least, uint64_t most) {
  if (bytes >= least && bytes <= most) return absl::OkStatus();
  return invalid_argument("{}: {} given; allowed are {} to {}", option, format_bytes(bytes),
                          format_bytes(least), format_bytes(most));
}

std::vector<Named> engines() { return named(kEngines); }
std::vector<Named> workloads(std::string_view engine) { return named_of(kWorkloads, engine); }
std::vector<Named> configurations(std::string_view engine) {
  return named_of(kConfigurations, engine);
}
std::vector<Named> storages() { return named(kStorages); }

absl::Status complete_wiredtiger(Options* options) {
  const ConfigurationRow& row = *find_row(kConfigurations, options->configuration);
  const WorkloadRow& workload = *find_row(kWorkloads, options->workload);
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

absl::StatusOr<Options> complete(const Options& given) {
  Options options = given;
  for (char& letter : options.workload) letter = absl::ascii_tolower(letter);
  if (absl::Status status = check_names(options); !status.ok()) return status;
  if (options.clients == 0) options.clients = find_row(kWorkloads, options.workload)->clients;
  if (absl::Status status = check_numbers(options); !status.ok()) return status;
  absl::Status status = find_row(kEngines, options.engine)->complete(&options);
  if (!status.ok()) return status;
  return options;
}

}  // namespace nvcache::simulate
