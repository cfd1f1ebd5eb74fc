#include "cache/tiered_config.h"

#include <array>
#include <charconv>
#include <optional>

#include "absl/status/status.h"
#include "base/text.h"
#include "base/units.h"
#include "medium/medium.h"
#include "policy/placement/placement_policy.h"
#include "policy/spec.h"

namespace nvcache {
namespace {

constexpr std::string_view kScheme = "tiered://";
constexpr std::string_view kDefaultAdmission = "always";
constexpr std::string_view kDefaultEviction = "lru";
constexpr uint32_t kMaxThreshold = 254;

absl::Status bad(std::string_view key, std::string_view given, std::string_view allowed) {
  return invalid_argument("{}: '{}' given; allowed: {}", key, shown(given), allowed);
}

// The text up to a separator that stands outside of all brackets, and the rest.
// Nothing if brackets do not match.
std::optional<std::pair<std::string_view, std::string_view>> split_outside(std::string_view text,
                                                                           char separator) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth < 0) return std::nullopt;
    if (text[i] == separator && depth == 0) return {{text.substr(0, i), text.substr(i + 1)}};
  }
  if (depth != 0) return std::nullopt;
  return {{text, {}}};
}

absl::Status set_on_off(std::string_view key, std::string_view value, std::string_view on,
                        std::string_view off, bool* to) {
  if (value != on && value != off) return bad(key, value, fmt::format("{}, {}", on, off));
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

absl::Status set_dram(std::string_view value, TieredConfig* config) {
  const absl::StatusOr<uint64_t> size_bytes = parse_size_bytes(value);
  if (!size_bytes.ok()) return invalid_argument("dram: {}", message_of(size_bytes.status()));
  if (*size_bytes > TieredConfig::kMaxDramBytes) {
    return bad("dram", value, fmt::format("0 to {}", format_bytes(TieredConfig::kMaxDramBytes)));
  }
  config->dram_bytes = *size_bytes;
  return absl::OkStatus();
}

absl::Status set_shards(std::string_view value, TieredConfig* config) {
  if (value == "auto") return absl::OkStatus();
  for (int bits = 0; bits <= TieredConfig::kMaxShardBits; ++bits) {
    if (value != std::to_string(1 << bits)) continue;
    config->shard_bits = bits;
    return absl::OkStatus();
  }
  return bad("shards", value,
             fmt::format("auto, or a power of two from 1 to {}", 1 << TieredConfig::kMaxShardBits));
}

absl::Status set_threshold(std::string_view value, TierConfig* tier) {
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, tier->threshold);
  if (error != std::errc() || stop != end || tier->threshold < 1 ||
      tier->threshold > kMaxThreshold) {
    return bad("threshold", value, fmt::format("1 to {} references", kMaxThreshold));
  }
  return absl::OkStatus();
}

// The bracketed settings as a specification of a block cache.
absl::Status set_tier(std::string_view value, TieredConfig* config) {
  constexpr std::string_view kForm = "tier=(size=SIZE[,medium=MEDIUM][,key=value...])";
  if (config->tiers.size() == TieredConfig::kMaxTiers) {
    return invalid_argument("tier: {} given; allowed: up to {}", TieredConfig::kMaxTiers + 1,
                            +TieredConfig::kMaxTiers);
  }
  if (value.size() < 2 || value.front() != '(' || value.back() != ')') {
    return bad("tier", value, kForm);
  }
  std::string_view inside = value.substr(1, value.size() - 2);
  TierConfig tier;
  std::string cache = "nvcache://?";
  bool has_admission = false;
  bool has_eviction = false;
  while (!inside.empty()) {
    const auto split = split_outside(inside, ',');
    if (!split) return bad("tier", value, kForm);
    inside = split->second;
    const std::string_view pair = strip(split->first);
    const auto [name, setting] = split_once(pair, '=');
    if (name == "threshold") {
      if (absl::Status status = set_threshold(setting, &tier); !status.ok()) return status;
      continue;
    }
    // A medium's options follow it after commas: on=..., io=...
    const bool continues = name == "on" || name == "io";
    if (cache.back() != '?') cache += continues ? "," : "&";
    cache += pair;
    has_admission = has_admission || name == "admission";
    has_eviction = has_eviction || name == "eviction";
  }
  if (!has_admission) cache += fmt::format("&admission={}", kDefaultAdmission);
  if (!has_eviction) cache += fmt::format("&eviction={}", kDefaultEviction);
  absl::StatusOr<Config> parsed = parse_config(cache);
  if (!parsed.ok()) {
    return invalid_argument("tier {}: {}", config->tiers.size() + 1, message_of(parsed.status()));
  }
  // The medium is opened late: see now whether that can work at all.
  if (absl::Status medium = check_medium(parsed->medium); !medium.ok()) {
    return invalid_argument("tier {}: {}", config->tiers.size() + 1, message_of(medium));
  }
  tier.cache = *std::move(parsed);
  config->tiers.push_back(std::move(tier));
  return absl::OkStatus();
}

struct Key {
  std::string_view name;
  absl::Status (*set)(std::string_view value, TieredConfig* config);
};

constexpr std::array<Key, 10> kKeys = {{
    {"policy", set_policy},
    {"dram", set_dram},
    {"tier", set_tier},
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

absl::Status set_pair(std::string_view pair, std::vector<std::string_view>* seen,
                      TieredConfig* config) {
  const auto [name, value] = split_once(pair, '=');
  std::string names;
  for (const Key& key : kKeys) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
    if (key.name != name) continue;
    for (const std::string_view other : *seen) {
      if (other == name && name != "tier") return bad(name, pair, "each key but tier at most once");
    }
    seen->push_back(key.name);
    return key.set(value, config);
  }
  return invalid_argument("'{}' is not a key; allowed: {}", shown(name), names);
}

bool contains(const std::vector<std::string_view>& seen, std::string_view name) {
  for (const std::string_view other : seen) {
    if (other == name) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<TieredConfig> parse_tiered_config(std::string_view spec) {
  constexpr std::string_view kForm = "tiered://?dram=SIZE[&tier=(size=SIZE,...)][&key=value...]";
  std::string_view query = strip(spec);
  if (!query.starts_with(kScheme)) return bad("specification", spec, kForm);
  query.remove_prefix(kScheme.size());
  if (!query.empty() && query.front() != '?') return bad("specification", spec, kForm);
  if (!query.empty()) query.remove_prefix(1);
  TieredConfig config;
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto split = split_outside(query, '&');
    if (!split) return bad("specification", spec, "brackets that match");
    query = split->second;
    if (split->first.empty()) continue;
    absl::Status status = set_pair(split->first, &seen, &config);
    if (!status.ok()) return status;
  }
  if (!contains(seen, "dram")) return bad("dram", "", "a size, e.g. dram=64MiB (it is required)");
  if (config.dram_bytes == 0 && config.tiers.empty()) {
    return bad("dram", "0", "more than 0 where there is no tier=(...)");
  }
  if (config.high_ratio + config.low_ratio > 1) {
    return bad("low_priority", std::to_string(config.low_ratio),
               "at most 1 together with high_priority");
  }
  // Without a first tier, index and filter blocks have no other place.
  if (config.dram_bytes == 0 && !contains(seen, "demote_high")) config.demote_high = true;
  return config;
}

}  // namespace nvcache
