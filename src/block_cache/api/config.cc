#include "block_cache/api/config.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>

#include "base/text.h"
#include "base/units.h"
#include "medium/table.h"
#include "nvcache/status.h"
#include "policy/admission/make_admission.h"
#include "policy/eviction/make_eviction.h"
#include "spec/query.h"

namespace nvcache {
namespace {

constexpr QueryForm kForm = {
    .scheme = "nvcache://",
    .form = "nvcache://?size=SIZE[&key=value...]",
    .after = "nothing between nvcache:// and '?': nvcache://?size=SIZE[&key=value...]"};

Status set_integer(std::string_view key, std::string_view value, uint64_t* to) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *to);
  if (error != std::errc() || end != value.data() + value.size()) {
    return bad_setting(key, value, "a whole number");
  }
  return ok_status();
}

Status prefix(std::string_view key, const Status& status) {
  return status.ok() ? status : invalid_argument("{}: {}", key, status.message());
}

Status set_admission(std::string_view value, Config* config) {
  config->admission = value;
  return prefix("admission", make_admission(value, {.cache_size_bytes = 1 << 20}).status());
}

Status set_eviction(std::string_view value, Config* config) {
  config->eviction = value;
  return prefix("eviction", make_eviction(value, {}).status());
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

Status set_preset(std::string_view value, Config* config) {
  std::string allowed;
  for (const Preset& preset : kPresets) {
    allowed.append(allowed.empty() ? "" : ", ").append(preset.name);
    if (value != preset.name) continue;
    if (config->admission.empty()) config->admission = preset.admission;
    if (config->eviction.empty()) config->eviction = preset.eviction;
    return ok_status();
  }
  return bad_setting("preset", value, allowed);
}

template <typename T>
struct Word {
  std::string_view word;
  T value;
};

template <typename T, size_t N>
Status set_word(std::string_view key, std::string_view value, const std::array<Word<T>, N>& words,
                T* to) {
  std::string allowed;
  for (const Word<T>& each : words) {
    if (value == each.word) {
      *to = each.value;
      return ok_status();
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(each.word);
  }
  return bad_setting(key, value, allowed);
}

constexpr std::array<Word<Verify>, 3> kVerifyWords = {
    {{"auto", Verify::kAuto}, {"always", Verify::kAlways}, {"never", Verify::kNever}}};
constexpr std::array<Word<SpaceKind>, 2> kSpaceWords = {
    {{"in_place", SpaceKind::kInPlace}, {"regions", SpaceKind::kRegions}}};
constexpr std::array<Word<Restart>, 2> kRestartWords = {
    {{"cold", Restart::kCold}, {"warm", Restart::kWarm}}};
constexpr std::array<Word<bool>, 2> kKeysWords = {{{"mutable", false}, {"immutable", true}}};
constexpr std::array<Word<bool>, 2> kOnWords = {{{"off", false}, {"on", true}}};
constexpr std::array<Word<bool>, 2> kYesWords = {{{"no", false}, {"yes", true}}};

Status set_region(std::string_view value, Config* config) {
  Status parsed = set_size("region", value, Config::kMinRegionBytes, Config::kMaxRegionBytes,
                           &config->region_bytes);
  if (parsed.ok() && !std::has_single_bit(config->region_bytes)) {
    return bad_setting(
        "region", value,
        fmt::format("a power of two from {} to {}", format_bytes(Config::kMinRegionBytes),
                    format_bytes(Config::kMaxRegionBytes)));
  }
  return parsed;
}

Status set_rewrite(std::string_view value, Config* config) {
  const StatusOr<double> share = parse_number("rewrite", value, 0, Config::kMostRewrite);
  if (!share.ok()) return share.status();
  config->rewrite = *share;
  return ok_status();
}

Status set_restart_rate(std::string_view value, Config* config) {
  if (value == "0") {
    config->restart_bytes_per_second = 0;
    return ok_status();
  }
  return set_size("restart_rate", value, Config::kMinRestartRate, Config::kMaxSizeBytes,
                  &config->restart_bytes_per_second);
}

Status set_owner(std::string_view value, Config* config) {
  constexpr size_t kMostBytes = 255;
  if (value.empty() || value.size() > kMostBytes) {
    return bad_setting("owner", value, fmt::format("a name of 1 to {} bytes", kMostBytes));
  }
  config->owner = value;
  return ok_status();
}

Status set_shards(std::string_view value, Config* config) {
  uint64_t shards = 0;
  const Status parsed = set_integer("shards", value, &shards);
  if (!parsed.ok() || !std::has_single_bit(shards) || shards > Config::kMaxShards) {
    return bad_setting("shards", value,
                       fmt::format("a power of two from 1 to {}", +Config::kMaxShards));
  }
  config->shards = static_cast<uint32_t>(shards);
  return ok_status();
}

Status set_maintenance(std::string_view value, Config* config) {
  const StatusOr<double> seconds = parse_number("maintenance", value, 0, 3600);
  if (!seconds.ok()) return seconds.status();
  config->maintenance_seconds = *seconds;
  return ok_status();
}

constexpr std::array<QueryKey<Config>, 20> kKeys = {{
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
       return v.empty() ? bad_setting("medium", v, allowed_media()) : ok_status();
     }},
    {"preset", set_preset},
    {"admission", set_admission},
    {"eviction", set_eviction},
    {"verify",
     [](std::string_view v, Config* c) { return set_word("verify", v, kVerifyWords, &c->verify); }},
    {"shards", set_shards},
    {"write_queue",
     [](std::string_view v, Config* c) {
       return set_size("write_queue", v, uint64_t{2} << 20, uint64_t{16} << 30,
                       &c->write_queue_bytes);
     }},
    {"space",
     [](std::string_view v, Config* c) { return set_word("space", v, kSpaceWords, &c->space); }},
    {"region", set_region},
    {"rewrite", set_rewrite},
    {"discard",
     [](std::string_view v, Config* c) { return set_word("discard", v, kOnWords, &c->discard); }},
    {"format",
     [](std::string_view v, Config* c) { return set_word("format", v, kYesWords, &c->format); }},
    {"restart", [](std::string_view v,
                   Config* c) { return set_word("restart", v, kRestartWords, &c->restart); }},
    {"restart_rate", set_restart_rate},
    {"keys", [](std::string_view v,
                Config* c) { return set_word("keys", v, kKeysWords, &c->immutable_keys); }},
    {"owner", set_owner},
    {"maintenance", set_maintenance},
    {"seed", [](std::string_view v, Config* c) { return set_integer("seed", v, &c->seed); }},
}};

// What the space is unless it is given. On a device blocks are written in large pieces, in order,
// if a region that is emptied is a small part of the cache, or a setting of regions is given.
SpaceKind default_space(const Config& config, const SeenKeys& seen) {
  if (!is_on_device(config.medium) || config.verify == Verify::kNever) return SpaceKind::kInPlace;
  const bool asked = config.restart == Restart::kWarm ||
                     std::ranges::any_of(
                         kRegionKeys, [&seen](std::string_view key) { return seen.contains(key); });
  const bool large = config.size_bytes / Config::kLeastRegions >= region_bytes_of(config);
  return large || asked ? SpaceKind::kRegions : SpaceKind::kInPlace;
}

// Settings that say nothing without others, or that others forbid.
Status check_regions(const Config& config, const SeenKeys& seen) {
  if (config.space == SpaceKind::kRegions) {
    if (!config.owner.empty() && config.restart != Restart::kWarm) {
      return invalid_argument("owner: {} given; allowed with restart=warm", config.owner);
    }
    if (config.verify != Verify::kNever) return ok_status();
    return bad_setting("verify", "never", "auto, always with space=regions");
  }
  if (config.restart == Restart::kWarm) {
    return invalid_argument("restart: warm given; allowed with space=regions");
  }
  for (const std::string_view key : kRegionKeys) {
    if (seen.contains(key)) return invalid_argument("{}: given; allowed with space=regions", key);
  }
  return ok_status();
}

}  // namespace

uint64_t choose_region_bytes(uint64_t size_bytes) {
  return std::clamp<uint64_t>(std::bit_floor(size_bytes / 128), 2 << 20, 16 << 20);
}

uint64_t region_bytes_of(const Config& config) {
  return config.region_bytes != 0 ? config.region_bytes
                                  : choose_region_bytes(config.max_size_bytes);
}

MediumOptions options_of_medium(const Config& config) {
  return {.size_bytes = config.size_bytes,
          .max_size_bytes = config.max_size_bytes,
          .keep_file = config.restart == Restart::kWarm};
}

StatusOr<Config> parse_config(std::string_view spec) {
  Config config;
  SeenKeys seen;
  if (Status status = read_query(spec, kForm, kKeys, &seen, &config); !status.ok()) {
    return status;
  }
  if (config.size_bytes == 0)
    return bad_setting("size", "", "a size, e.g. size=1GiB (it is required)");
  if (Status status = set_preset(kPresets[0].name, &config); !status.ok()) return status;
  if (config.max_size_bytes == 0) config.max_size_bytes = config.size_bytes;
  if (config.max_size_bytes < config.size_bytes) {
    return bad_setting("max_size", format_bytes(config.max_size_bytes),
                       fmt::format("at least size, {}", format_bytes(config.size_bytes)));
  }
  if (!seen.contains("space")) config.space = default_space(config, seen);
  if (Status status = check_regions(config, seen); !status.ok()) return status;
  return config;
}

}  // namespace nvcache
