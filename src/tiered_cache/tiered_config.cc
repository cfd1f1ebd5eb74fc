#include "tiered_cache/tiered_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "medium/medium.h"
#include "medium/table.h"
#include "nvcache/status.h"
#include "policy/placement/placement_policy.h"
#include "spec/query.h"
#include "tiered_cache/key_space.h"

namespace nvcache {
namespace {

// parse_config() decodes the settings of a tier.
constexpr QueryForm kTieredForm = {
    .scheme = "tiered://",
    .form = "tiered://?dram=SIZE[&tier=(size=SIZE,...)][&key=value...]",
    .brackets = true,
    .percent = false};
constexpr std::string_view kDefaultAdmission = "admission=always";
constexpr std::string_view kDefaultEviction = "eviction=lru";
constexpr uint32_t kMaxThreshold = 254;

Status set_on_off(std::string_view key, std::string_view value, std::string_view on,
                  std::string_view off, bool* to) {
  if (value != on && value != off) return bad_setting(key, value, fmt::format("{}, {}", on, off));
  *to = value == on;
  return ok_status();
}

Status set_ratio(std::string_view key, std::string_view value, double* to) {
  const StatusOr<double> ratio = parse_number(key, value, 0, 1);
  if (!ratio.ok()) return ratio.status();
  *to = *ratio;
  return ok_status();
}

Status set_policy(std::string_view value, TieredConfig* config) {
  const auto policy = make_placement(value);
  if (!policy.ok()) return policy.status();
  config->policy = value;
  return ok_status();
}

Status set_shards(std::string_view value, TieredConfig* config) {
  if (value == "auto") return ok_status();
  for (int bits = 0; bits <= TieredConfig::kMaxShardBits; ++bits) {
    if (value != std::to_string(1 << bits)) continue;
    config->shard_bits = bits;
    return ok_status();
  }
  return bad_setting(
      "shards", value,
      fmt::format("auto, or a power of two from 1 to {}", 1 << TieredConfig::kMaxShardBits));
}

Status set_threshold(std::string_view value, TierConfig* tier) {
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, tier->threshold);
  if (error != std::errc() || stop != end || tier->threshold < 1 ||
      tier->threshold > kMaxThreshold) {
    return bad_setting("threshold", value, fmt::format("1 to {} references", kMaxThreshold));
  }
  return ok_status();
}

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

Status set_owner(std::string_view value, TieredConfig* config) {
  if (value != KeySpace::kAllOwners) return set_name("owner", value, &config->owner);
  config->owner = value;
  return ok_status();
}

// The bracketed settings as a specification of a block cache. A medium's options follow it after
// commas, as other settings do.
class TierSettings {
 public:
  void add(std::string_view name, std::string_view setting, std::string_view pair) {
    const bool first = names_.insert(std::string(name)).second;
    if (name == "medium" && first) {
      medium_ = setting;
    } else if (belongs_to_medium(name)) {
      (has("medium") ? medium_ : rest_).append(",").append(pair);
      if (name == "format") format_medium_ = setting;
    } else {
      add_setting(pair);
    }
    if (pair == "space=regions") in_regions_ = true;
  }
  bool has(const std::string& name) const { return names_.contains(name); }
  void add_setting(std::string_view pair) { rest_.append(rest_.empty() ? "" : "&").append(pair); }

  std::string spec() const {
    std::string spec = "nvcache://?" + rest_;
    // The regions on a device that is taken anew start anew, too.
    if (in_regions_ && format_medium_ == "yes") spec += "&format=yes";
    return has("medium") ? spec + "&medium=" + medium_ : spec;
  }

 private:
  // `format` is an option of some media, and a setting of caches on all.
  bool belongs_to_medium(std::string_view name) const {
    return name == "format" ? is_option_of(medium_, name) : is_medium_option(name);
  }

  std::string rest_;
  std::string medium_;
  std::string format_medium_;
  std::set<std::string> names_;
  bool in_regions_ = false;
};

Status bad_tier(const TieredConfig& config, const Status& status) {
  return invalid_argument("tier {}: {}", config.tiers.size() + 1, status.message());
}

Status set_tier(std::string_view value, TieredConfig* config) {
  constexpr std::string_view kTierForm = "tier=(size=SIZE[,medium=MEDIUM][,key=value...])";
  if (config->tiers.size() == TieredConfig::kMaxTiers) {
    return invalid_argument("tier: {} given; allowed: up to {}", TieredConfig::kMaxTiers + 1,
                            +TieredConfig::kMaxTiers);
  }
  if (value.size() < 2 || value.front() != '(' || value.back() != ')') {
    return bad_setting("tier", value, kTierForm);
  }
  std::string_view inside = value.substr(1, value.size() - 2);
  TierConfig tier;
  TierSettings settings;
  while (!inside.empty()) {
    std::pair<std::string_view, std::string_view> parts;
    if (!split_outside(inside, ',', /*brackets=*/true, &parts)) {
      return bad_setting("tier", value, kTierForm);
    }
    inside = parts.second;
    const std::string_view pair = strip(parts.first);
    const auto [name, setting] = split_once(pair, '=');
    if (name == "threshold") {
      if (Status status = set_threshold(setting, &tier); !status.ok()) return status;
      continue;
    }
    if (name == "name") {
      if (!tier.name.empty()) return bad_setting("name", pair, "each key at most once");
      if (Status status = set_name(name, setting, &tier.name); !status.ok()) return status;
      continue;
    }
    settings.add(name, setting, pair);
  }
  if (!settings.has("preset")) {
    if (!settings.has("admission")) settings.add_setting(kDefaultAdmission);
    if (!settings.has("eviction")) settings.add_setting(kDefaultEviction);
  }
  StatusOr<Config> parsed = parse_config(settings.spec());
  if (!parsed.ok()) return bad_tier(*config, parsed.status());
  // The medium may be opened when the first block comes. Report mistakes now.
  if (Status medium = check_medium(parsed->medium); !medium.ok()) {
    return bad_tier(*config, medium);
  }
  tier.keys_given = settings.has("keys");
  tier.cache = *std::move(parsed);
  config->tiers.push_back(std::move(tier));
  return ok_status();
}

Status set_keys(std::string_view value, TieredConfig* config) {
  return set_on_off("keys", value, "immutable", "mutable", &config->immutable_keys);
}

constexpr std::array<QueryKey<TieredConfig>, 12> kTieredKeys = {{
    {"policy", set_policy},
    {"dram",
     [](std::string_view v, TieredConfig* c) {
       return set_size("dram", v, 0, TieredConfig::kMaxDramBytes, &c->dram_bytes);
     }},
    {"tier", set_tier, /*repeats=*/true},
    {"strict", [](std::string_view v,
                  TieredConfig* c) { return set_on_off("strict", v, "on", "off", &c->strict); }},
    {"high_priority",
     [](std::string_view v, TieredConfig* c) {
       return set_ratio("high_priority", v, &c->high_ratio);
     }},
    {"low_priority", [](std::string_view v,
                        TieredConfig* c) { return set_ratio("low_priority", v, &c->low_ratio); }},
    {"shards", set_shards},
    {"metadata",
     [](std::string_view v, TieredConfig* c) {
       return set_on_off("metadata", v, "charge", "free", &c->charge_metadata);
     }},
    {"demote",
     [](std::string_view v, TieredConfig* c) {
       return set_on_off("demote", v, "background", "foreground", &c->demote_in_background);
     }},
    {"keys", set_keys},
    {"owner", set_owner},
    {"demote_high",
     [](std::string_view v, TieredConfig* c) {
       return set_on_off("demote_high", v, "on", "off", &c->demote_high);
     }},
}};

}  // namespace

StatusOr<TieredConfig> parse_tiered_config(std::string_view spec) {
  TieredConfig config;
  SeenKeys seen;
  if (Status status = read_query(spec, kTieredForm, kTieredKeys, &seen, &config); !status.ok()) {
    return status;
  }
  if (!seen.contains("dram"))
    return bad_setting("dram", "", "a size, e.g. dram=64MiB (it is required)");
  if (config.dram_bytes == 0 && config.tiers.empty()) {
    return bad_setting("dram", "0", "more than 0 where there is no tier=(...)");
  }
  if (config.high_ratio + config.low_ratio > 1) {
    return bad_setting("low_priority", std::to_string(config.low_ratio),
                       "at most 1 together with high_priority");
  }
  // What it evicts would have to find the lower tiers of the cache that put it there.
  for (size_t i = 0; i + 1 < config.tiers.size(); ++i) {
    const std::string& name = config.tiers[i].name;
    if (name.empty()) continue;
    const Status status = bad_setting("name", name, "in the last tier=(...)");
    return invalid_argument("tier {}: {}", i + 1, status.message());
  }
  for (TierConfig& tier : config.tiers) {
    if (!tier.keys_given) tier.cache.immutable_keys = config.immutable_keys;
  }
  // Without a first tier, index and filter blocks can only go to lower tiers.
  if (config.dram_bytes == 0 && !seen.contains("demote_high")) config.demote_high = true;
  return config;
}

}  // namespace nvcache
