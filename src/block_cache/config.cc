#include "block_cache/config.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>

#include "absl/status/status.h"
#include "base/text.h"
#include "base/units.h"
#include "medium/table.h"
#include "policy/admission/make_admission.h"
#include "policy/eviction/make_eviction.h"
#include "spec/query.h"

namespace nvcache {
namespace {

constexpr QueryForm kForm = {
    .scheme = "nvcache://",
    .form = "nvcache://?size=SIZE[&key=value...]",
    .after = "nothing between nvcache:// and '?': nvcache://?size=SIZE[&key=value...]"};

absl::Status set_integer(std::string_view key, std::string_view value, uint64_t* to) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *to);
  if (error != std::errc() || end != value.data() + value.size()) {
    return bad_setting(key, value, "a whole number");
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

// Policies for those that a specification does not name. The first is the default.
struct Preset {
  std::string_view name;
  std::string_view admission;
  std::string_view eviction;
};

constexpr std::array<Preset, 2> kPresets = {{
    {"auto", "break_even", "auto"},       // weighs what writes cost and hits save
    {"writes_hurt", "obp(0.1)", "lfru"},  // *Writes Hurt*, sections 3.2.3 and 4
}};

absl::Status set_preset(std::string_view value, Config* config) {
  std::string allowed;
  for (const Preset& preset : kPresets) {
    allowed.append(allowed.empty() ? "" : ", ").append(preset.name);
    if (value != preset.name) continue;
    if (config->admission.empty()) config->admission = preset.admission;
    if (config->eviction.empty()) config->eviction = preset.eviction;
    return absl::OkStatus();
  }
  return bad_setting("preset", value, allowed);
}

absl::Status set_verify(std::string_view value, Config* config) {
  if (value == "auto")
    config->verify = Verify::kAuto;
  else if (value == "always")
    config->verify = Verify::kAlways;
  else if (value == "never")
    config->verify = Verify::kNever;
  else
    return bad_setting("verify", value, "auto, always, never");
  return absl::OkStatus();
}

absl::Status set_shards(std::string_view value, Config* config) {
  uint64_t shards = 0;
  const absl::Status parsed = set_integer("shards", value, &shards);
  if (!parsed.ok() || !std::has_single_bit(shards) || shards > Config::kMaxShards) {
    return bad_setting("shards", value,
                       fmt::format("a power of two from 1 to {}", +Config::kMaxShards));
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

constexpr std::array<QueryKey<Config>, 11> kKeys = {{
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
       return v.empty() ? bad_setting("medium", v, allowed_media()) : absl::OkStatus();
     }},
    {"preset", set_preset},
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

}  // namespace

absl::StatusOr<Config> parse_config(std::string_view spec) {
  Config config;
  SeenKeys seen;
  if (absl::Status status = read_query(spec, kForm, kKeys, &seen, &config); !status.ok()) {
    return status;
  }
  if (config.size_bytes == 0)
    return bad_setting("size", "", "a size, e.g. size=1GiB (it is required)");
  if (absl::Status status = set_preset(kPresets[0].name, &config); !status.ok()) return status;
  if (config.max_size_bytes == 0) config.max_size_bytes = config.size_bytes;
  if (config.max_size_bytes < config.size_bytes) {
    return bad_setting("max_size", format_bytes(config.max_size_bytes),
                       fmt::format("at least size, {}", format_bytes(config.size_bytes)));
  }
  return config;
}

}  // namespace nvcache
