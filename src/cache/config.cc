#include "cache/config.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "base/text.h"
#include "base/units.h"
#include "policy/admission/admission_policy.h"
#include "policy/eviction/eviction_policy.h"

namespace nvcache {
namespace {

constexpr std::string_view kScheme = "nvcache://";

// Control characters of untrusted input stay off the terminal.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 200)) {
    if (c >= 0x20 && c != 0x7f) {
      out.push_back(c);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

absl::Status bad(std::string_view key, std::string_view given, std::string_view allowed) {
  return invalid_argument("{}: '{}' given; allowed: {}", key, printable(given), allowed);
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

absl::Status set_integer(std::string_view key, std::string_view value, uint64_t* to) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *to);
  if (error != std::errc() || end != value.data() + value.size()) {
    return bad(key, value, "a whole number");
  }
  return absl::OkStatus();
}

absl::Status prefix(std::string_view key, const absl::Status& status) {
  return status.ok() ? status : invalid_argument("{}: {}", key, message_of(status));
}

absl::Status set_admission(std::string_view value, Config* config) {
  config->admission = value;
  return prefix("admission", make_admission(value, {.cache_size_bytes = 1 << 20}).status());
}

absl::Status set_eviction(std::string_view value, Config* config) {
  config->eviction = value;
  return prefix("eviction", make_eviction(value, 0).status());
}

absl::Status set_verify(std::string_view value, Config* config) {
  if (value == "auto")
    config->verify = Verify::kAuto;
  else if (value == "always")
    config->verify = Verify::kAlways;
  else if (value == "never")
    config->verify = Verify::kNever;
  else
    return bad("verify", value, "auto, always, never");
  return absl::OkStatus();
}

absl::Status set_shards(std::string_view value, Config* config) {
  uint64_t shards = 0;
  const absl::Status parsed = set_integer("shards", value, &shards);
  if (!parsed.ok() || !std::has_single_bit(shards) || shards > Config::kMaxShards) {
    return bad("shards", value, fmt::format("a power of two from 1 to {}", +Config::kMaxShards));
  }
  config->shards = static_cast<uint32_t>(shards);
  return absl::OkStatus();
}

absl::Status set_maintenance(std::string_view value, Config* config) {
  const absl::StatusOr<double> seconds = parse_number("maintenance", value, 0, 3600);
  if (!seconds.ok()) return seconds.status();
  config->maintenance_seconds = *seconds;
  return absl::OkStatus();
}

struct Key {
  std::string_view name;
  absl::Status (*set)(std::string_view value, Config* config);
};

constexpr std::array<Key, 10> kKeys = {{
    {"size",
     [](std::string_view v, Config* c) {
       return set_size("size", v, Config::kMinSizeBytes, Config::kMaxSizeBytes, &c->size_bytes);
     }},
    {"max_size",
     [](std::string_view v, Config* c) {
       return set_size("max_size", v, Config::kMinSizeBytes, Config::kMaxSizeBytes,
                       &c->max_size_bytes);
     }},
    {"medium",
     [](std::string_view v, Config* c) {
       c->medium = v;
       return v.empty() ? bad("medium", v, "dram, file:PATH, numa:NODE, modelled:PROFILE") : absl::OkStatus();
     }},
    {"admission", set_admission},
    {"eviction", set_eviction},
    {"verify", set_verify},
    {"shards", set_shards},
    {"write_queue",
     [](std::string_view v, Config* c) {
       return set_size("write_queue", v, uint64_t{2} << 20, uint64_t{16} << 30,
                       &c->write_queue_bytes);
     }},
    {"maintenance", set_maintenance},
    {"seed", [](std::string_view v, Config* c) { return set_integer("seed", v, &c->seed); }},
}};

std::string key_names() {
  std::string names;
  for (const Key& key : kKeys) names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
  return names;
}

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

absl::Status set_pair(std::string_view pair, std::vector<std::string_view>* seen, Config* config) {
  const auto [name, encoded] = split_once(pair, '=');
  for (const Key& key : kKeys) {
    if (key.name != name) continue;
    for (const std::string_view other : *seen) {
      if (other == name) return bad(name, pair, "each key at most once");
    }
    seen->push_back(key.name);
    const absl::StatusOr<std::string> value = decode_percent(name, encoded);
    return value.ok() ? key.set(*value, config) : value.status();
  }
  return invalid_argument("'{}' is not a key; allowed: {}", printable(name), key_names());
}

}  // namespace

absl::StatusOr<Config> parse_config(std::string_view spec) {
  const std::string_view trimmed = strip(spec);
  if (trimmed.substr(0, kScheme.size()) != kScheme) {
    return bad("specification", spec, "nvcache://?size=SIZE[&key=value...]");
  }
  std::string_view query = trimmed.substr(kScheme.size());
  if (!query.empty() && query.front() != '?') {
    return bad("specification", spec,
               "nothing between nvcache:// and '?': nvcache://?size=SIZE[&key=value...]");
  }
  if (!query.empty()) query.remove_prefix(1);
  Config config;
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto [pair, rest] = split_once(query, '&');
    query = rest;
    if (pair.empty()) continue;
    const absl::Status status = set_pair(pair, &seen, &config);
    if (!status.ok()) return status;
  }
  if (config.size_bytes == 0) return bad("size", "", "a size, e.g. size=1GiB (it is required)");
  if (config.max_size_bytes == 0) config.max_size_bytes = config.size_bytes;
  if (config.max_size_bytes < config.size_bytes) {
    return bad("max_size", format_bytes(config.max_size_bytes),
               fmt::format("at least size, {}", format_bytes(config.size_bytes)));
  }
  return config;
}

}  // namespace nvcache
