#include "adapters/rocksdb/restart_settings.h"

#include <utility>

#include "medium/table.h"

namespace nvcache::rocksdb {

StatusOr<Config> config_with_restart(std::string_view spec) {
  StatusOr<Given<Config>> given = read_config(spec);
  if (!given.ok()) return given.status();
  StatusOr<Config> config = complete_config(*given);
  if (!config.ok() || config->space == SpaceKind::kInPlace || !is_on_device(config->medium)) {
    return config;
  }
  given->set_default<&Config::restart>(Restart::kWarm);
  if (given->values.restart == Restart::kCold) return config;
  given->set_default<&Config::immutable_keys>(true);
  return complete_config(*std::move(given));
}

}  // namespace nvcache::rocksdb
