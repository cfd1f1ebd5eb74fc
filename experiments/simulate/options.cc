#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "experiments/simulate/engines.h"
#include "experiments/simulate/option_checks.h"
#include "experiments/simulate/simulate.h"
#include "experiments/simulate/tables.h"
#include "fmt/ranges.h"
#include "medium/profiles.h"

namespace nvcache::simulate {
namespace {

constexpr uint32_t kMaxScale = 4096;

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
  if (options.cores < 1 || options.cores > 4096) {
    return invalid_argument("--cores: {} given; allowed are 1 to 4096", options.cores);
  }
  if (!(options.minutes > 0) || options.minutes > 100'000) {
    return invalid_argument("--minutes: {} given; allowed are more than 0, to 100000",
                            options.minutes);
  }
  return ok_status();
}

}  // namespace

Status check_size(std::string_view option, uint64_t bytes, uint64_t least, uint64_t most) {
  if (bytes >= least && bytes <= most) return ok_status();
  return invalid_argument("{}: {} given; allowed are {} to {}", option, format_bytes(bytes),
                          format_bytes(least), format_bytes(most));
}

std::vector<Named> engines() {
  std::vector<Named> list;
  for (const EngineRow* const row : kEngines) list.push_back({row->name, row->help});
  return list;
}
std::vector<Named> storages() { return named(kStorages); }

std::vector<Named> workloads(std::string_view engine) {
  const EngineRow* const row = find_engine(engine);
  return row == nullptr ? std::vector<Named>() : row->workloads();
}

std::vector<Named> configurations(std::string_view engine) {
  const EngineRow* const row = find_engine(engine);
  return row == nullptr ? std::vector<Named>() : row->configurations();
}

StatusOr<Options> complete(const Options& given) {
  Options options = given;
  options.workload = lower(options.workload);
  Status status = check_name("--engine", options.engine, engines());
  if (!status.ok()) return status;
  const EngineRow& engine = *find_engine(options.engine);
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
