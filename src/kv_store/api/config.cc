#include "kv_store/api/config.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/units.h"
#include "base/unix_time.h"
#include "medium/table.h"
#include "spec/query.h"
#include "spec/settings.h"

namespace nvcache {
namespace {

constexpr std::array<Retired, 2> kRetiredStore = {
    {{"cleaning", "live items stay, as with cleaning=live"},
     {"hot", "a full store keeps the half of the items that were used last"}}};
constexpr QueryForm kStoreForm = {
    .scheme = "nvkv://", .form = "nvkv://?size=SIZE[&key=value...]", .retired = kRetiredStore};
constexpr uint64_t kMinZoneBytes = 4 << 10;
constexpr uint64_t kMaxZoneBytes = uint64_t{1} << 30;

using StoreRow = Setting<KvConfig>;

constexpr std::array<Word<Durability>, 4> kDurabilityWords = {{{"cache", Durability::kCache},
                                                               {"volatile", Durability::kVolatile},
                                                               {"each", Durability::kEach},
                                                               {"each_lru", Durability::kEachLru}}};
constexpr std::array<Word<KvSurvives>, 3> kSurvivesWords = {{{"auto", KvSurvives::kAuto},
                                                             {"process", KvSurvives::kProcess},
                                                             {"power", KvSurvives::kPower}}};
constexpr std::array<Word<bool>, 2> kCleanerWords = {{{"thread", true}, {"inline", false}}};
constexpr std::array<Word<bool>, 2> kAfterAbsenceWords = {{{"stale", false}, {"empty", true}}};

Status read_medium(const StoreRow& row, std::string_view value, KvConfig* config) {
  static constexpr MediaText kAllowed = store_media(", ");
  config->medium = value;
  return value.empty() ? bad_setting(row.name, value, kAllowed.data()) : ok_status();
}

constexpr std::array<StoreRow, 11> kStoreRows = {{
    setting::size<&KvConfig::size_bytes>("size", KvConfig::kMinSizeBytes, KvConfig::kMaxSizeBytes),
    setting::own<&KvConfig::medium>("medium", read_medium,
                                    [](const KvConfig& c) { return c.medium; }),
    setting::choice<&KvConfig::durability, kDurabilityWords>("durability"),
    setting::choice<&KvConfig::survives, kSurvivesWords>("survives"),
    setting::size<&KvConfig::zone_bytes>("zone", kMinZoneBytes, kMaxZoneBytes),
    setting::size<&KvConfig::item_bytes>("item", 32, uint64_t{1} << 27),
    setting::size<&KvConfig::write_cache_bytes>("write_cache", 0, uint64_t{1} << 40),
    setting::needed("programs that may have no thread more",
                    setting::choice<&KvConfig::clean_ahead, kCleanerWords>("cleaner")),
    setting::number<&KvConfig::sync_seconds>("sync", 0, 86400),
    setting::number<&KvConfig::max_absence_s>("max_absence", 1, 1 << 30),
    setting::choice<&KvConfig::empty_after_absence, kAfterAbsenceWords>("after_absence"),
}};

}  // namespace

void KvConfig::complete() {
  if (!now_s) now_s = steady_unix_s;
  if (durability != Durability::kCache) write_cache_bytes = 0;
}

std::string_view durability_name(Durability durability) {
  const auto word = std::ranges::find(kDurabilityWords, durability, &Word<Durability>::value);
  return word == kDurabilityWords.end() ? std::string_view() : word->word;
}

std::span<const Setting<KvConfig>> kv_config_rows() { return kStoreRows; }

StatusOr<Given<KvConfig>> read_kv_config(std::string_view spec) {
  return read_settings<KvConfig>(spec, kStoreForm, kStoreRows);
}

Status read_kv_setting(std::string_view pair, Given<KvConfig>* given) {
  return read_setting<KvConfig>(pair, kStoreForm, kStoreRows, given);
}

StatusOr<KvConfig> complete_kv_config(Given<KvConfig> given) {
  KvConfig& config = given.values;
  if (config.size_bytes == 0)
    return bad_setting("size", "", "a size, e.g. size=1GiB (it is required)");
  config.size_bytes = config.size_bytes / 4096 * 4096;
  given.set_default<&KvConfig::zone_bytes>(
      std::clamp<uint64_t>(config.size_bytes / 16, 64 << 10, uint64_t{4} << 20));
  config.zone_bytes = config.zone_bytes / 4096 * 4096;
  given.set_default<&KvConfig::write_cache_bytes>(
      std::min<uint64_t>(config.size_bytes / 64, uint64_t{64} << 20));
  config.fits_item = !given.has<&KvConfig::item_bytes>();
  return config;
}

StatusOr<KvConfig> parse_kv_config(std::string_view spec) {
  StatusOr<Given<KvConfig>> given = read_kv_config(spec);
  if (!given.ok()) return given.status();
  return complete_kv_config(*std::move(given));
}

std::string kv_spec_of(const Given<KvConfig>& given) { return given.spec(kStoreForm); }

}  // namespace nvcache
