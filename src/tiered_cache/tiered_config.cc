#include "tiered_cache/tiered_config.h"

#include <array>
#include <charconv>
#include <utility>

#include "absl/status/status.h"
#include "base/text.h"
#include "base/units.h"
#include "medium/medium.h"
#include "medium/table.h"
#include "policy/placement/placement_policy.h"
#include "spec/query.h"

namespace nvcache {
namespace {

// parse_config() decodes the settings of a tier.
constexpr QueryForm kTieredForm = {
    .scheme = "tiered://",
    .form = "tiered://?dram=SIZE[&tier=(size=SIZE,...)][&key=value...]",
    .brackets = true,
    .percent = false};
constexpr std::string_view kDefaultAdmission = "always";
constexpr std::string_view kDefaultEviction = "lru";
constexpr uint32_t kMaxThreshold = 254;

absl::Status set_on_off(std::string_view key, std::string_view value, std::string_view on,
                        std::string_view off, bool* to) {
  if (value != on && value != off) return bad_setting(key, value, fmt::format("{}, {}", on, off));
  *to = value == on;
  return absl::OkStatus();
}

absl::Status set_ratio(std::string_view key, std::string_view value, double* to) {
  const absl::StatusOr<double> ratio = parse_number(key, value, 0, 1);
  if (!ratio.ok()) return ratio.status();
  *to = *ratio;
  return absl::OkStatus();
}

absl::Status set_policy(std::string_view value, TieredConfig* config) {
  const auto policy = make_placement(value);
  if (!policy.ok()) return policy.status();
  config->policy = value;
  return absl::OkStatus();
}

absl::Status set_shards(std::string_view value, TieredConfig* config) {
  if (value == "auto") return absl::OkStatus();
  for (int bits = 0; bits <= TieredConfig::kMaxShardBits; ++bits) {
    if (value != std::to_string(1 << bits)) continue;
    config->shard_bits = bits;
    return absl::OkStatus();
  }
  return bad_setting(
      "shards", value,
      fmt::format("auto, or a power of two from 1 to {}", 1 << TieredConfig::kMaxShardBits));
}

absl::Status set_threshold(std::string_view value, TierConfig* tier) {
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, tier->threshold);
  if (error != std::errc() || stop != end || tier->threshold < 1 ||
      tier->threshold > kMaxThreshold) {
    return bad_setting("threshold", value, fmt::format("1 to {} references", kMaxThreshold));
  }
  return absl::OkStatus();
}

// The bracketed settings as a specification of a block cache.
absl::Status set_tier(std::string_view value, TieredConfig* config) {
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
  std::string cache = "nvcache://?";
  bool has_admission = false;
  bool has_eviction = false;
  bool has_preset = false;
  while (!inside.empty()) {
    std::pair<std::string_view, std::string_view> parts;
    if (!split_outside(inside, ',', /*brackets=*/true, &parts)) {
      return bad_setting("tier", value, kTierForm);
    }
    inside = parts.second;
    const std::string_view pair = strip(parts.first);
    const auto [name, setting] = split_once(pair, '=');
    if (name == "threshold") {
      if (absl::Status status = set_threshold(setting, &tier); !status.ok()) return status;
      continue;
    }
    // A medium's options follow it after commas.
    if (cache.back() != '?') cache += is_medium_option(name) ? "," : "&";
    cache += pair;
    has_admission = has_admission || name == "admission";
    has_eviction = has_eviction || name == "eviction";
    has_preset = has_preset || name == "preset";
  }
  if (!has_admission && !has_preset) cache += fmt::format("&admission={}", kDefaultAdmission);
  if (!has_eviction && !has_preset) cache += fmt::format("&eviction={}", kDefaultEviction);
  absl::StatusOr<Config> parsed = parse_config(cache);
  if (!parsed.ok()) {
    return invalid_argument("tier {}: {}", config->tiers.size() + 1, message_of(parsed.status()));
  }
  // The medium is opened when the first block comes. Report mistakes now.
  if (absl::Status medium = check_medium(parsed->medium); !medium.ok()) {
    return invalid_argument("tier {}: {}", config->tiers.size() + 1, message_of(medium));
  }
  if (parsed->restart == Restart::kWarm) {
    return invalid_argument("tier {}: restart: warm given; allowed in a tier: cold",
                            config->tiers.size() + 1);
  }
  tier.cache = *std::move(parsed);
  config->tiers.push_back(std::move(tier));
  return absl::OkStatus();
}

constexpr std::array<QueryKey<TieredConfig>, 10> kTieredKeys = {{
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
    {"demote_high",
     [](std::string_view v, TieredConfig* c) {
       return set_on_off("demote_high", v, "on", "off", &c->demote_high);
     }},
}};

}  // namespace

absl::StatusOr<TieredConfig> parse_tiered_config(std::string_view spec) {
  TieredConfig config;
  SeenKeys seen;
  if (absl::Status status = read_query(spec, kTieredForm, kTieredKeys, &seen, &config);
      !status.ok()) {
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
  // Without a first tier, index and filter blocks can only go to lower tiers.
  if (config.dram_bytes == 0 && !seen.contains("demote_high")) config.demote_high = true;
  return config;
}

}  // namespace nvcache
