#include "apps/nvcached/options/store_specification.h"

#include <cstdlib>

#include "spec/settings.h"

namespace nvcache::server {
namespace {

constexpr uint64_t kPageBytes = 4096;

// The store as the options have it.
StatusOr<Given<KvConfig>> settings_of(const Options& options) {
  const auto rows = kv_config_rows();
  Given<KvConfig> given;
  Status status = given.set<&KvConfig::size_bytes>(rows, options.settings.memory_bytes);
  if (status.ok()) status = given.set<&KvConfig::medium>(rows, options.medium);
  if (status.ok()) status = read_kv_setting("durability=" + options.durability, &given);
  if (status.ok() && options.max_absence_s != 0) {
    status = given.set<&KvConfig::max_absence_s>(rows, options.max_absence_s);
    if (status.ok()) {
      status = given.set<&KvConfig::empty_after_absence>(rows, options.empty_after_absence);
    }
  }
  if (!status.ok()) return status;
  // An item takes at most half of a zone.
  const StatusOr<KvConfig> own = complete_kv_config(given);
  if (!own.ok()) return own.status();
  const uint64_t least_bytes = 2 * options.settings.max_item_bytes;
  if (own->zone_bytes < least_bytes) {
    const uint64_t zone_bytes = (least_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    status = given.set<&KvConfig::zone_bytes>(rows, zone_bytes);
  }
  if (!status.ok()) return status;
  return given;
}

}  // namespace

StatusOr<std::string> state_directory() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/nvcached";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/state/nvcached";
  return invalid_argument(
      "no place for the data: neither XDG_STATE_HOME nor HOME is an absolute path; give "
      "--medium file:PATH");
}

StatusOr<StoreSpecification> store_specification_of(const Options& options) {
  StatusOr<Given<KvConfig>> given =
      options.store_spec.empty() ? settings_of(options) : read_kv_config(options.store_spec);
  if (!given.ok()) return given.status();
  StatusOr<KvConfig> config = complete_kv_config(*given);
  if (!config.ok()) return config.status();
  const bool is_written = !options.store_spec.empty();
  return StoreSpecification{.config = *std::move(config),
                            .text = is_written ? options.store_spec : kv_spec_of(*given)};
}

}  // namespace nvcache::server
