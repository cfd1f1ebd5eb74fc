// The specification string that configures a tiered cache:
//
//   tiered://?policy=bidirectional(4)&dram=64MiB&tier=(size=1GiB,medium=file:/mnt/x)
//
// The lower tiers follow in order, fastest first. The brackets of a tier hold the settings of
// a block cache (block_cache/api/config.h), `threshold` and `name`, separated by commas.
// docs/guide/configuration.md describes all settings to users.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "block_cache/api/config.h"
#include "nvcache/status_or.h"
#include "spec/settings.h"

namespace nvcache {

struct TierConfig {
  Config cache;
  uint32_t threshold = 0;   // overrides the policy's; 0: the policy's
  bool keys_given = false;  // the tier says itself whether its keys are immutable
  // Of a tier that all caches of the process share that give it (shared_tiers.h); empty: the
  // cache's own. Only the last tier has one.
  std::string name = {};

  static constexpr size_t kMaxNameBytes = 64;

  bool restarts_warm() const { return cache.restart == Restart::kWarm; }
};

struct TieredConfig {
  std::string policy = "dram_first";
  uint64_t dram_bytes = 0;  // of the first tier; 0: it keeps objects only while they are held
  bool strict = false;
  double high_ratio = 0.5;
  double low_ratio = 0;
  int shard_bits = -1;  // -1: by size
  bool charge_metadata = true;
  bool demote_in_background = true;
  bool demote_high = false;     // high-priority objects may go to lower tiers
  bool immutable_keys = false;  // no key ever names other bytes; of tiers that do not say
  // Whose keys they are in a shared tier with restart=warm (key_space.h): a name, "*", or empty.
  std::string owner;
  std::vector<TierConfig> tiers;
  // dram is what a program asked for, not the user: it may be missing, and 0 for a cache of no
  // bytes.
  bool dram_by_program = false;

  static constexpr uint64_t kMaxDramBytes = uint64_t{1} << 44;
  static constexpr size_t kMaxTiers = 7;  // lower tiers
  static constexpr int kMaxShardBits = 12;
};

// The settings that a specification gives, and no others: an adapter sets its own defaults there.
// The tiers in it are complete. INVALID_ARGUMENT names the setting, what was given and what is
// allowed.
[[nodiscard]] StatusOr<Given<TieredConfig>> read_tiered_config(std::string_view spec);
// Sets what was not given, and checks the whole.
[[nodiscard]] StatusOr<TieredConfig> complete_tiered_config(Given<TieredConfig> given);
// read_tiered_config(), then complete_tiered_config().
[[nodiscard]] StatusOr<TieredConfig> parse_tiered_config(std::string_view spec);

// A row for each setting; of a tier, those that its block cache does not have.
std::span<const Setting<TieredConfig>> tiered_config_rows();
std::span<const Setting<TierConfig>> tier_config_rows();

}  // namespace nvcache
