#include "block_cache/api/config.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "medium/table.h"
#include "nvcache/status.h"
#include "policy/admission/make_admission.h"
#include "policy/eviction/make_eviction.h"
#include "spec/query.h"
#include "spec/settings.h"

namespace nvcache {
namespace {

constexpr std::array<Retired, 1> kRetiredCache = {{{"seed", "leave it out"}}};
constexpr QueryForm kCacheForm = {
    .scheme = "nvcache://",
    .form = "nvcache://?size=SIZE[&key=value...]",
    .after = "nothing between nvcache:// and '?': nvcache://?size=SIZE[&key=value...]",
    .retired = kRetiredCache};

using CacheRow = Setting<Config>;

Status prefix(std::string_view key, const Status& status) {
  return status.ok() ? status : invalid_argument("{}: {}", key, status.message());
}

bool is_zero(std::string_view value) {
  const StatusOr<uint64_t> size_bytes = parse_size_bytes(value);
  return size_bytes.ok() && *size_bytes == 0;
}

// 0 is for adapters, which may take it for no cache at all.
Status read_size(const CacheRow& row, std::string_view value, Config* config) {
  config->size_bytes = 0;
  if (is_zero(value)) return ok_status();
  return set_size(row.name, value, Config::kMinSizeBytes, Config::kMaxSizeBytes,
                  &config->size_bytes);
}

std::string print_max_size(const Config& config) {
  const bool grows = config.max_size_bytes != config.size_bytes;
  return grows ? exact_size(config.max_size_bytes) : "size";
}

Status read_medium(const CacheRow& row, std::string_view value, Config* config) {
  config->medium = value;
  return value.empty() ? bad_setting(row.name, value, allowed_media()) : ok_status();
}

Status read_admission(const CacheRow& row, std::string_view value, Config* config) {
  config->admission = value;
  return prefix(row.name, make_admission(value, {.cache_size_bytes = 1 << 20}).status());
}

Status read_eviction(const CacheRow& row, std::string_view value, Config* config) {
  config->eviction = value;
  return prefix(row.name, make_eviction(value, {}).status());
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

void fill_policies(const Preset& preset, Config* config) {
  if (config->admission.empty()) config->admission = preset.admission;
  if (config->eviction.empty()) config->eviction = preset.eviction;
}

Status read_preset(const CacheRow& row, std::string_view value, Config* config) {
  std::string allowed;
  for (const Preset& preset : kPresets) {
    allowed.append(allowed.empty() ? "" : ", ").append(preset.name);
    if (value != preset.name) continue;
    fill_policies(preset, config);
    return ok_status();
  }
  return bad_setting(row.name, value, allowed);
}

constexpr std::array<Word<Verify>, 3> kVerifyWords = {
    {{"auto", Verify::kAuto}, {"always", Verify::kAlways}, {"never", Verify::kNever}}};
constexpr std::array<Word<SpaceKind>, 2> kSpaceWords = {
    {{"in_place", SpaceKind::kInPlace}, {"regions", SpaceKind::kRegions}}};
constexpr std::array<Word<Restart>, 2> kRestartWords = {
    {{"cold", Restart::kCold}, {"warm", Restart::kWarm}}};
constexpr std::array<Word<bool>, 2> kCacheKeysWords = {{{"mutable", false}, {"immutable", true}}};
constexpr std::array<Word<bool>, 2> kCacheOnWords = {{{"off", false}, {"on", true}}};
constexpr std::array<Word<bool>, 2> kYesWords = {{{"no", false}, {"yes", true}}};

Status read_region(const CacheRow& row, std::string_view value, Config* config) {
  Status parsed = set_size(row.name, value, Config::kMinRegionBytes, Config::kMaxRegionBytes,
                           &config->region_bytes);
  if (parsed.ok() && !std::has_single_bit(config->region_bytes)) {
    return bad_setting(
        row.name, value,
        fmt::format("a power of two from {} to {}", format_bytes(Config::kMinRegionBytes),
                    format_bytes(Config::kMaxRegionBytes)));
  }
  return parsed;
}

std::string print_region(const Config& config) {
  return config.region_bytes == 0 ? "auto" : exact_size(config.region_bytes);
}

Status read_restart_rate(const CacheRow& row, std::string_view value, Config* config) {
  config->restart_bytes_per_second = 0;
  if (is_zero(value)) return ok_status();
  return set_size(row.name, value, Config::kMinRestartRate, Config::kMaxSizeBytes,
                  &config->restart_bytes_per_second);
}

Status read_owner(const CacheRow& row, std::string_view value, Config* config) {
  constexpr size_t kMostBytes = 255;
  if (value.empty() || value.size() > kMostBytes) {
    return bad_setting(row.name, value, fmt::format("a name of 1 to {} bytes", kMostBytes));
  }
  config->owner = value;
  return ok_status();
}

Status read_shards(const CacheRow& row, std::string_view value, Config* config) {
  const std::optional<uint64_t> shards = parse_whole(value);
  if (!shards || !std::has_single_bit(*shards) || *shards > Config::kMaxShards) {
    return bad_setting(row.name, value,
                       fmt::format("a power of two from 1 to {}", +Config::kMaxShards));
  }
  config->shards = static_cast<uint32_t>(*shards);
  return ok_status();
}

std::string print_shards(const Config& config) {
  return config.shards == 0 ? "auto" : std::to_string(config.shards);
}

constexpr std::array<CacheRow, 19> kCacheRows = {{
    setting::own<&Config::size_bytes>("size", read_size,
                                      [](const Config& c) { return exact_size(c.size_bytes); }),
    setting::printed(setting::size<&Config::max_size_bytes>("max_size", Config::kMinSizeBytes,
                                                            Config::kMaxSizeBytes),
                     print_max_size),
    setting::own<&Config::medium>("medium", read_medium, [](const Config& c) { return c.medium; }),
    {.name = "preset", .read = read_preset},
    setting::own<&Config::admission>("admission", read_admission,
                                     [](const Config& c) { return c.admission; }),
    setting::own<&Config::eviction>("eviction", read_eviction,
                                    [](const Config& c) { return c.eviction; }),
    setting::choice<&Config::verify, kVerifyWords>("verify"),
    setting::own<&Config::shards>("shards", read_shards, print_shards),
    setting::size<&Config::write_queue_bytes>("write_queue", uint64_t{2} << 20, uint64_t{16} << 30),
    setting::choice<&Config::space, kSpaceWords>("space"),
    setting::own<&Config::region_bytes>("region", read_region, print_region),
    setting::needed("drives whose writes are counted to the byte",
                    setting::number<&Config::rewrite>("rewrite", 0, Config::kMostRewrite)),
    setting::needed("storage that others share",
                    setting::choice<&Config::discard, kCacheOnWords>("discard")),
    setting::needed("a medium that another version or a fault left",
                    setting::choice<&Config::format, kYesWords>("format")),
    setting::choice<&Config::restart, kRestartWords>("restart"),
    setting::needed("drives that other programs read at the same time",
                    setting::own<&Config::restart_bytes_per_second>(
                        "restart_rate", read_restart_rate,
                        [](const Config& c) { return exact_size(c.restart_bytes_per_second); })),
    setting::choice<&Config::immutable_keys, kCacheKeysWords>("keys"),
    setting::own<&Config::owner>("owner", read_owner, [](const Config& c) { return c.owner; }),
    setting::needed("`eviction=lfru`",
                    setting::number<&Config::maintenance_seconds>("maintenance", 0, 3600)),
}};

// Those that only a cache in regions has: complete_config() refuses them with any other.
constexpr std::array<std::string_view, 7> kRegionRows = {
    "region", "rewrite", "discard", "format", "restart_rate", "keys", "owner"};

// The kind of space unless it is given. On a device blocks are written in large pieces, in order,
// if a region that is emptied is a small part of the cache, or a setting of regions is given.
SpaceKind default_space(const Given<Config>& given) {
  const Config& config = given.values;
  if (!is_on_device(config.medium) || config.verify == Verify::kNever) return SpaceKind::kInPlace;
  const bool asked =
      config.restart == Restart::kWarm ||
      std::ranges::any_of(kRegionRows, [&given](std::string_view name) { return given.has(name); });
  const bool large = config.size_bytes / Config::kLeastRegions >= region_bytes_of(config);
  return large || asked ? SpaceKind::kRegions : SpaceKind::kInPlace;
}

// Settings that say nothing without others, or that others forbid.
Status check_regions(const Given<Config>& given) {
  const Config& config = given.values;
  if (config.space == SpaceKind::kRegions) {
    if (!config.owner.empty() && config.restart != Restart::kWarm) {
      return invalid_argument("owner: {} needs restart=warm", config.owner);
    }
    if (config.verify != Verify::kNever) return ok_status();
    return bad_setting("verify", "never", "auto, always with space=regions");
  }
  if (config.restart == Restart::kWarm) {
    return invalid_argument("restart: warm needs space=regions");
  }
  for (const std::string_view name : kRegionRows) {
    if (given.has(name)) return invalid_argument("{}: needs space=regions", name);
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

std::span<const Setting<Config>> config_rows() { return kCacheRows; }

StatusOr<Given<Config>> read_config(std::string_view spec) {
  return read_settings<Config>(spec, kCacheForm, kCacheRows);
}

Status read_config_setting(std::string_view pair, Given<Config>* given) {
  return read_setting<Config>(pair, kCacheForm, kCacheRows, given);
}

StatusOr<Config> complete_config(Given<Config> given) {
  Config& config = given.values;
  if (config.size_bytes == 0 && !given.has<&Config::size_bytes>()) {
    return bad_setting("size", "", "a size, e.g. size=1GiB (it is required)");
  }
  if (config.size_bytes < Config::kMinSizeBytes) {
    return bad_setting("size", exact_size(config.size_bytes),
                       fmt::format("{} to {}", format_bytes(Config::kMinSizeBytes),
                                   format_bytes(Config::kMaxSizeBytes)));
  }
  fill_policies(kPresets[0], &config);
  given.set_default<&Config::max_size_bytes>(config.size_bytes);
  if (config.max_size_bytes < config.size_bytes) {
    return bad_setting("max_size", format_bytes(config.max_size_bytes),
                       fmt::format("at least size, {}", format_bytes(config.size_bytes)));
  }
  given.set_default<&Config::space>(default_space(given));
  if (Status status = check_regions(given); !status.ok()) return status;
  return config;
}

StatusOr<Config> parse_config(std::string_view spec) {
  StatusOr<Given<Config>> given = read_config(spec);
  if (!given.ok()) return given.status();
  return complete_config(*std::move(given));
}

}  // namespace nvcache
