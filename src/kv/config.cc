#include "kv/config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "policy/spec.h"

namespace nvcache {
namespace {

constexpr std::string_view kScheme = "nvkv://";
constexpr uint64_t kMinZoneBytes = 4 << 10;
constexpr uint64_t kMaxZoneBytes = uint64_t{256} << 20;

absl::Status bad(std::string_view key, std::string_view given, std::string_view allowed) {
  return invalid_argument("{}: '{}' given; allowed: {}", key, shown(given), allowed);
}

absl::Status set_size(std::string_view key, std::string_view value, uint64_t low, uint64_t high,
                      uint64_t* to) {
  const absl::StatusOr<uint64_t> size_bytes = parse_size_bytes(value);
  if (!size_bytes.ok()) return invalid_argument("{}: {}", key, message_of(size_bytes.status()));
  if (*size_bytes < low || *size_bytes > high) {
    return bad(key, value, fmt::format("{} to {}", format_bytes(low), format_bytes(high)));
  }
  *to = *size_bytes;
  return absl::OkStatus();
}

absl::Status set_durability(std::string_view value, KvConfig* config) {
  for (const Durability each :
       {Durability::kCache, Durability::kVolatile, Durability::kEach, Durability::kEachLru}) {
    if (value != durability_name(each)) continue;
    config->durability = each;
    return absl::OkStatus();
  }
  return bad("durability", value, "cache, volatile, each, each_lru");
}

absl::Status set_survives(std::string_view value, KvConfig* config) {
  if (value == "auto")
    config->survives = KvSurvives::kAuto;
  else if (value == "process")
    config->survives = KvSurvives::kProcess;
  else if (value == "power")
    config->survives = KvSurvives::kPower;
  else
    return bad("survives", value, "auto, process, power");
  return absl::OkStatus();
}

absl::Status set_hot(std::string_view value, KvConfig* config) {
  const absl::StatusOr<double> share = parse_number("hot", value, 0, 1);
  if (!share.ok()) return share.status();
  config->hot_share = *share;
  return absl::OkStatus();
}

struct Key {
  std::string_view name;
  absl::Status (*set)(std::string_view value, KvConfig* config);
};

constexpr std::array<Key, 8> kKeys = {{
    {"size",
     [](std::string_view v, KvConfig* c) {
       return set_size("size", v, KvConfig::kMinSizeBytes, KvConfig::kMaxSizeBytes, &c->size_bytes);
     }},
    {"medium",
     [](std::string_view v, KvConfig* c) {
       c->medium = v;
       return v.empty() ? bad("medium", v, "dram, file:PATH, modelled:PROFILE") : absl::OkStatus();
     }},
    {"durability", set_durability},
    {"survives", set_survives},
    {"zone",
     [](std::string_view v, KvConfig* c) {
       return set_size("zone", v, kMinZoneBytes, kMaxZoneBytes, &c->zone_bytes);
     }},
    {"item",
     [](std::string_view v, KvConfig* c) {
       return set_size("item", v, 32, uint64_t{1} << 27, &c->item_bytes);
     }},
    {"write_cache",
     [](std::string_view v, KvConfig* c) {
       return set_size("write_cache", v, 0, uint64_t{1} << 40, &c->write_cache_bytes);
     }},
    {"hot", set_hot},
}};

absl::StatusOr<std::string> decode_percent(std::string_view key, std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    uint8_t byte = 0;
    const char* first = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(first, first + 2, byte, 16).ptr != first + 2) {
      return bad(key, text, "percent signs written as %25, and %XX with two hexadecimal digits");
    }
    out.push_back(static_cast<char>(byte));
    i += 2;
  }
  return out;
}

absl::Status set_pair(std::string_view pair, std::vector<std::string_view>* seen,
                      KvConfig* config) {
  const auto [name, encoded] = split_once(pair, '=');
  std::string names;
  for (const Key& key : kKeys) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
    if (key.name != name) continue;
    if (std::find(seen->begin(), seen->end(), name) != seen->end()) {
      return bad(name, pair, "each key at most once");
    }
    seen->push_back(key.name);
    const absl::StatusOr<std::string> value = decode_percent(name, encoded);
    return value.ok() ? key.set(*value, config) : value.status();
  }
  return invalid_argument("'{}' is not a key; allowed: {}", shown(name), names);
}

absl::Status complete(const std::vector<std::string_view>& seen, KvConfig* config) {
  if (config->size_bytes == 0) return bad("size", "", "a size, e.g. size=1GiB (it is required)");
  config->size_bytes = config->size_bytes / 4096 * 4096;
  if (config->zone_bytes == 0) {
    config->zone_bytes = std::clamp<uint64_t>(config->size_bytes / 16, 64 << 10, uint64_t{4} << 20);
  }
  config->zone_bytes = config->zone_bytes / 4096 * 4096;
  if (std::find(seen.begin(), seen.end(), "write_cache") == seen.end()) {
    config->write_cache_bytes = std::min<uint64_t>(config->size_bytes / 64, uint64_t{64} << 20);
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view durability_name(Durability durability) {
  switch (durability) {
    case Durability::kCache:
      return "cache";
    case Durability::kVolatile:
      return "volatile";
    case Durability::kEach:
      return "each";
    case Durability::kEachLru:
      return "each_lru";
  }
  return "";
}

absl::StatusOr<KvConfig> parse_kv_config(std::string_view spec) {
  const std::string_view trimmed = strip(spec);
  std::string_view query = trimmed;
  if (!trimmed.starts_with(kScheme) ||
      (query.remove_prefix(kScheme.size()), !query.empty() && query.front() != '?')) {
    return bad("specification", spec, "nvkv://?size=SIZE[&key=value...]");
  }
  if (!query.empty()) query.remove_prefix(1);
  KvConfig config;
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto [pair, rest] = split_once(query, '&');
    query = rest;
    if (pair.empty()) continue;
    if (absl::Status status = set_pair(pair, &seen, &config); !status.ok()) return status;
  }
  if (absl::Status status = complete(seen, &config); !status.ok()) return status;
  return config;
}

}  // namespace nvcache
