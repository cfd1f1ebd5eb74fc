#include "tiered_cache/tiered_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "medium/medium.h"
#include "medium/table.h"
#include "nvcache/status.h"
#include "policy/placement/placement_policy.h"
#include "spec/query.h"
#include "spec/settings.h"
#include "tiered_cache/key_space.h"

namespace nvcache {
namespace {

// read_config_setting() decodes the settings of a tier.
constexpr QueryForm kTieredForm = {
    .scheme = "tiered://",
    .form = "tiered://?dram=SIZE[&tier=(size=SIZE,...)][&key=value...]",
    .brackets = true,
    .percent = false};
constexpr std::string_view kDefaultAdmission = "always";
constexpr std::string_view kDefaultEviction = "lru";

using TieredRow = Setting<TieredConfig>;

Status bad_tier(const TieredConfig& config, const Status& status) {
  return invalid_argument("tier {}: {}", config.tiers.size() + 1, status.message());
}

Status read_policy(const TieredRow&, std::string_view value, TieredConfig* config) {
  const auto policy = make_placement(value);
  if (!policy.ok()) return policy.status();
  config->policy = value;
  return ok_status();
}

Status read_shards(const TieredRow& row, std::string_view value, TieredConfig* config) {
  if (value == "auto") return ok_status();
  for (int bits = 0; bits <= TieredConfig::kMaxShardBits; ++bits) {
    if (value != std::to_string(1 << bits)) continue;
    config->shard_bits = bits;
    return ok_status();
  }
  return bad_setting(
      row.name, value,
      fmt::format("auto, or a power of two from 1 to {}", 1 << TieredConfig::kMaxShardBits));
}

std::string print_shards(const TieredConfig& config) {
  return config.shard_bits < 0 ? "auto" : std::to_string(1 << config.shard_bits);
}

// A name without characters that have a meaning somewhere.
Status set_name(std::string_view key, std::string_view value, std::string* to) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (value.empty() || value.size() > TierConfig::kMaxNameBytes ||
      !std::ranges::all_of(value, allowed)) {
    return bad_setting(
        key, value,
        fmt::format("1 to {} letters, digits, '_', '-' and '.'", +TierConfig::kMaxNameBytes));
  }
  *to = value;
  return ok_status();
}

Status read_owner(const TieredRow& row, std::string_view value, TieredConfig* config) {
  if (value != KeySpace::kAllOwners) return set_name(row.name, value, &config->owner);
  config->owner = value;
  return ok_status();
}

// The settings of a tier that its block cache does not have.
constexpr std::array<Setting<TierConfig>, 2> kTierRows = {{
    setting::own<&TierConfig::threshold>(
        "threshold",
        [](const Setting<TierConfig>& row, std::string_view value, TierConfig* tier) {
          const std::optional<uint64_t> references = parse_whole(value);
          constexpr uint32_t kMost = PlacementPolicy::kMaxThreshold;
          if (!references || *references < 1 || *references > kMost) {
            return bad_setting(row.name, value, fmt::format("1 to {} references", kMost));
          }
          tier->threshold = static_cast<uint32_t>(*references);
          return ok_status();
        },
        [](const TierConfig& tier) { return std::to_string(tier.threshold); }),
    setting::own<&TierConfig::name>(
        "name",
        [](const Setting<TierConfig>& row, std::string_view value, TierConfig* tier) {
          return set_name(row.name, value, &tier->name);
        },
        [](const TierConfig& tier) { return tier.name; }),
}};

// Reads the list between a tier's brackets: its own settings, those of its block cache, and, as
// they follow it after commas too, the options of the medium.
class TierReader {
 public:
  Status read(std::string_view pair) {
    const auto [name, value] = split_once(pair, '=');
    if (std::ranges::find(kTierRows, name, &Setting<TierConfig>::name) != kTierRows.end()) {
      return read_setting<TierConfig>(pair, {.scheme = "", .form = "", .percent = false}, kTierRows,
                                      &tier_);
    }
    if (name == "medium" && medium_.empty()) {
      medium_ = pair;
      return ok_status();
    }
    if (!belongs_to_medium(name)) return read_config_setting(pair, &cache_);
    if (medium_.empty()) return bad_setting(name, value, "after medium=MEDIUM");
    medium_.append(",").append(pair);
    formats_medium_ = formats_medium_ || pair == "format=yes";
    return ok_status();
  }

  StatusOr<TierConfig> finish() {
    if (!medium_.empty()) {
      if (Status status = read_config_setting(medium_, &cache_); !status.ok()) return status;
    }
    if (!cache_.has("preset")) {
      cache_.set_default<&Config::admission>(std::string(kDefaultAdmission));
      cache_.set_default<&Config::eviction>(std::string(kDefaultEviction));
    }
    // The regions on a device that is taken anew start anew, too.
    const bool regions = cache_.has<&Config::space>() && cache_.values.space == SpaceKind::kRegions;
    if (regions && formats_medium_) cache_.set_default<&Config::format>(true);
    StatusOr<Config> config = complete_config(cache_);
    if (!config.ok()) return config.status();
    // The medium may be opened when the first block comes. Report mistakes now.
    if (Status medium = check_medium(config->medium); !medium.ok()) return medium;
    TierConfig tier = tier_.values;
    tier.keys_given = cache_.has<&Config::immutable_keys>();
    tier.cache = *std::move(config);
    return tier;
  }

 private:
  // `format` is an option of some media, and a setting of caches on all.
  bool belongs_to_medium(std::string_view name) const {
    const std::string_view medium = split_once(medium_, '=').second;
    return name == "format" ? is_option_of(medium, name) : is_medium_option(name);
  }

  Given<TierConfig> tier_;
  Given<Config> cache_;
  std::string medium_;  // "medium=MEDIUM,option=value"
  bool formats_medium_ = false;
};

Status read_tier(const TieredRow& row, std::string_view value, TieredConfig* config) {
  constexpr std::string_view kTierForm = "tier=(size=SIZE[,medium=MEDIUM][,key=value...])";
  if (config->tiers.size() == TieredConfig::kMaxTiers) {
    return invalid_argument("tier: {} given; allowed: up to {}", TieredConfig::kMaxTiers + 1,
                            +TieredConfig::kMaxTiers);
  }
  if (value.size() < 2 || value.front() != '(' || value.back() != ')') {
    return bad_setting(row.name, value, kTierForm);
  }
  std::string_view inside = value.substr(1, value.size() - 2);
  TierReader reader;
  while (!inside.empty()) {
    std::pair<std::string_view, std::string_view> parts;
    if (!split_outside(inside, ',', /*brackets=*/true, &parts)) {
      return bad_setting(row.name, value, kTierForm);
    }
    inside = parts.second;
    const std::string_view pair = strip(parts.first);
    if (pair.empty()) continue;
    if (Status status = reader.read(pair); !status.ok()) return bad_tier(*config, status);
  }
  StatusOr<TierConfig> tier = reader.finish();
  if (!tier.ok()) return bad_tier(*config, tier.status());
  config->tiers.push_back(*std::move(tier));
  return ok_status();
}

constexpr std::array<Word<bool>, 2> kTieredOnWords = {{{"on", true}, {"off", false}}};
constexpr std::array<Word<bool>, 2> kMetadataWords = {{{"charge", true}, {"free", false}}};
constexpr std::array<Word<bool>, 2> kDemoteWords = {{{"background", true}, {"foreground", false}}};
constexpr std::array<Word<bool>, 2> kTieredKeysWords = {{{"immutable", true}, {"mutable", false}}};

constexpr std::string_view kNeedRatios =
    "programs that set RocksDB's `high_pri_pool_ratio` or `low_pri_pool_ratio`";

constexpr std::array<TieredRow, 12> kTieredRows = {{
    setting::own<&TieredConfig::policy>("policy", read_policy,
                                        [](const TieredConfig& c) { return c.policy; }),
    setting::size<&TieredConfig::dram_bytes>("dram", 0, TieredConfig::kMaxDramBytes),
    {.name = "tier",
     .read = read_tier,
     .member = &setting::kMemberId<&TieredConfig::tiers>,
     .repeats = true},
    setting::choice<&TieredConfig::strict, kTieredOnWords>("strict"),
    setting::needed(kNeedRatios, setting::number<&TieredConfig::high_ratio>("high_priority", 0, 1)),
    setting::needed(kNeedRatios, setting::number<&TieredConfig::low_ratio>("low_priority", 0, 1)),
    setting::own<&TieredConfig::shard_bits>("shards", read_shards, print_shards),
    setting::needed("programs that set RocksDB's `metadata_charge_policy`",
                    setting::choice<&TieredConfig::charge_metadata, kMetadataWords>("metadata")),
    setting::needed("programs that may have no thread more",
                    setting::choice<&TieredConfig::demote_in_background, kDemoteWords>("demote")),
    setting::choice<&TieredConfig::immutable_keys, kTieredKeysWords>("keys"),
    setting::own<&TieredConfig::owner>("owner", read_owner,
                                       [](const TieredConfig& c) { return c.owner; }),
    setting::choice<&TieredConfig::demote_high, kTieredOnWords>("demote_high"),
}};

// Only the lowest tier has a name: blocks that a shared tier evicts would have to find the lower
// tiers of the cache that put them there.
Status check_names(const TieredConfig& config) {
  for (size_t i = 0; i + 1 < config.tiers.size(); ++i) {
    const std::string& name = config.tiers[i].name;
    if (name.empty()) continue;
    const Status status = bad_setting("name", name, "in the last tier=(...)");
    return invalid_argument("tier {}: {}", i + 1, status.message());
  }
  return ok_status();
}

}  // namespace

std::span<const Setting<TieredConfig>> tiered_config_rows() { return kTieredRows; }
std::span<const Setting<TierConfig>> tier_config_rows() { return kTierRows; }

StatusOr<Given<TieredConfig>> read_tiered_config(std::string_view spec) {
  return read_settings<TieredConfig>(spec, kTieredForm, kTieredRows);
}

StatusOr<TieredConfig> complete_tiered_config(Given<TieredConfig> given) {
  TieredConfig& config = given.values;
  if (!given.has<&TieredConfig::dram_bytes>() && !config.dram_by_program) {
    return bad_setting("dram", "", "a size, e.g. dram=64MiB (it is required)");
  }
  if (config.dram_bytes > TieredConfig::kMaxDramBytes) {  // a program's
    return bad_setting("dram", exact_size(config.dram_bytes),
                       fmt::format("up to {}", format_bytes(TieredConfig::kMaxDramBytes)));
  }
  if (config.dram_bytes == 0 && config.tiers.empty() && !config.dram_by_program) {
    return bad_setting("dram", "0", "more than 0 where there is no tier=(...)");
  }
  if (config.high_ratio + config.low_ratio > 1) {
    return bad_setting("low_priority", std::to_string(config.low_ratio),
                       "at most 1 together with high_priority");
  }
  if (Status status = check_names(config); !status.ok()) return status;
  for (TierConfig& tier : config.tiers) {
    if (!tier.keys_given) tier.cache.immutable_keys = config.immutable_keys;
  }
  // Without a first tier, index and filter blocks can only go to lower tiers.
  if (config.dram_bytes == 0) given.set_default<&TieredConfig::demote_high>(true);
  return config;
}

StatusOr<TieredConfig> parse_tiered_config(std::string_view spec) {
  StatusOr<Given<TieredConfig>> given = read_tiered_config(spec);
  if (!given.ok()) return given.status();
  return complete_tiered_config(*std::move(given));
}

}  // namespace nvcache
