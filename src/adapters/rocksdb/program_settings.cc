#include "adapters/rocksdb/program_settings.h"

#include <algorithm>
#include <utility>

namespace nvcache::rocksdb {
namespace {

StatusOr<TieredConfig> complete(Given<TieredConfig> given) {
  given.set_default<&TieredConfig::immutable_keys>(true);
  given.set_default<&TieredConfig::owner>("*");
  return complete_tiered_config(std::move(given));
}

// The pools have the whole cache at most.
void set_shares(const ProgramCache& program, Given<TieredConfig>* given) {
  const double high = given->has<&TieredConfig::high_ratio>() ? given->values.high_ratio : 0;
  const double low = given->has<&TieredConfig::low_ratio>() ? given->values.low_ratio : 0;
  given->set_default<&TieredConfig::high_ratio>(std::min(program.high_ratio, 1 - low));
  given->set_default<&TieredConfig::low_ratio>(std::min(program.low_ratio, 1 - high));
}

bool is_warm_and_alone(const TierConfig& tier) { return tier.restarts_warm() && tier.name.empty(); }

}  // namespace

StatusOr<TieredConfig> tiered_config_of(std::string_view spec) {
  StatusOr<Given<TieredConfig>> given = read_tiered_config(spec);
  if (!given.ok()) return given.status();
  return complete(*std::move(given));
}

StatusOr<TieredConfig> tiered_config_of(std::string_view spec, const ProgramCache& program) {
  StatusOr<Given<TieredConfig>> given = read_tiered_config(spec);
  if (!given.ok()) return given.status();
  given->values.dram_by_program = !given->has<&TieredConfig::dram_bytes>();
  given->set_default<&TieredConfig::dram_bytes>(program.capacity_bytes);
  given->set_default<&TieredConfig::strict>(program.strict);
  given->set_default<&TieredConfig::charge_metadata>(program.charge_metadata);
  given->set_default<&TieredConfig::shard_bits>(program.shard_bits);
  set_shares(program, &*given);
  StatusOr<TieredConfig> config = complete(*std::move(given));
  if (config.ok() && std::ranges::any_of(config->tiers, is_warm_and_alone)) {
    return invalid_argument("restart: warm given; allowed here: cold, or a tier with a name");
  }
  return config;
}

bool can_replace(const ProgramCache& program) {
  const double high = program.high_ratio;
  const double low = program.low_ratio;
  return program.shard_bits <= TieredConfig::kMaxShardBits && high >= 0 && low >= 0 &&
         high + low <= 1;
}

}  // namespace nvcache::rocksdb
