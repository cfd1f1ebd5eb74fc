#include "kv_store/api/config.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/units.h"
#include "base/unix_time.h"
#include "spec/query.h"

namespace nvcache {
namespace {

constexpr QueryForm kStoreForm = {.scheme = "nvkv://", .form = "nvkv://?size=SIZE[&key=value...]"};
constexpr uint64_t kMinZoneBytes = 4 << 10;
constexpr uint64_t kMaxZoneBytes = uint64_t{1} << 30;

Status set_durability(std::string_view value, KvConfig* config) {
  for (const Durability each :
       {Durability::kCache, Durability::kVolatile, Durability::kEach, Durability::kEachLru}) {
    if (value != durability_name(each)) continue;
    config->durability = each;
    return ok_status();
  }
  return bad_setting("durability", value, "cache, volatile, each, each_lru");
}

Status set_survives(std::string_view value, KvConfig* config) {
  if (value == "auto")
    config->survives = KvSurvives::kAuto;
  else if (value == "process")
    config->survives = KvSurvives::kProcess;
  else if (value == "power")
    config->survives = KvSurvives::kPower;
  else
    return bad_setting("survives", value, "auto, process, power");
  return ok_status();
}

Status set_cleaning(std::string_view value, KvConfig* config) {
  if (value != "live" && value != "paper") return bad_setting("cleaning", value, "live, paper");
  config->cleaning = value == "live" ? KvCleaning::kLive : KvCleaning::kPaper;
  return ok_status();
}

Status set_cleaner(std::string_view value, KvConfig* config) {
  if (value != "thread" && value != "inline")
    return bad_setting("cleaner", value, "thread, inline");
  config->clean_ahead = value == "thread";
  return ok_status();
}

Status set_hot(std::string_view value, KvConfig* config) {
  const StatusOr<double> share = parse_number("hot", value, 0, 1);
  if (!share.ok()) return share.status();
  config->hot_share = *share;
  return ok_status();
}

Status set_sync(std::string_view value, KvConfig* config) {
  const StatusOr<double> seconds = parse_number("sync", value, 0, 86400);
  if (!seconds.ok()) return seconds.status();
  config->sync_seconds = *seconds;
  return ok_status();
}

Status set_max_absence(std::string_view value, KvConfig* config) {
  const StatusOr<double> seconds = parse_number("max_absence", value, 1, 1 << 30);
  if (!seconds.ok()) return seconds.status();
  config->max_absence_s = static_cast<uint32_t>(*seconds);
  return ok_status();
}

Status set_after_absence(std::string_view value, KvConfig* config) {
  if (value != "stale" && value != "empty")
    return bad_setting("after_absence", value, "stale, empty");
  config->empty_after_absence = value == "empty";
  return ok_status();
}

constexpr std::array<QueryKey<KvConfig>, 13> kStoreKeys = {{
    {"size",
     [](std::string_view v, KvConfig* c) {
       return set_size("size", v, KvConfig::kMinSizeBytes, KvConfig::kMaxSizeBytes, &c->size_bytes);
     }},
    {"medium",
     [](std::string_view v, KvConfig* c) {
       c->medium = v;
       return v.empty() ? bad_setting("medium", v, "dram, file:PATH, emulated:PROFILE")
                        : ok_status();
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
    {"cleaning", set_cleaning},
    {"cleaner", set_cleaner},
    {"hot", set_hot},
    {"sync", set_sync},
    {"max_absence", set_max_absence},
    {"after_absence", set_after_absence},
}};

Status set_defaults(const SeenKeys& seen, KvConfig* config) {
  if (config->size_bytes == 0)
    return bad_setting("size", "", "a size, e.g. size=1GiB (it is required)");
  config->size_bytes = config->size_bytes / 4096 * 4096;
  if (config->zone_bytes == 0) {
    config->zone_bytes = std::clamp<uint64_t>(config->size_bytes / 16, 64 << 10, uint64_t{4} << 20);
  }
  config->zone_bytes = config->zone_bytes / 4096 * 4096;
  if (!seen.contains("write_cache")) {
    config->write_cache_bytes = std::min<uint64_t>(config->size_bytes / 64, uint64_t{64} << 20);
  }
  config->fits_item = !seen.contains("item");
  return ok_status();
}

}  // namespace

void KvConfig::complete() {
  if (!now_s) now_s = steady_unix_s;
  if (durability != Durability::kCache) write_cache_bytes = 0;
}

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

StatusOr<KvConfig> parse_kv_config(std::string_view spec) {
  KvConfig config;
  SeenKeys seen;
  if (Status status = read_query(spec, kStoreForm, kStoreKeys, &seen, &config); !status.ok()) {
    return status;
  }
  if (Status status = set_defaults(seen, &config); !status.ok()) return status;
  return config;
}

}  // namespace nvcache
