#include "adapters/rocksdb/restart_settings.h"

#include <array>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "block_cache/config.h"
#include "medium/table.h"
#include "spec/query.h"

namespace nvcache::rocksdb {
namespace {

constexpr uint64_t kLeastRegions = 32;  // with fewer, each that is emptied empties much

struct RestartSetting {
  std::string_view key;
  std::string_view value;
};
constexpr std::array<RestartSetting, 3> kRestartSettings = {
    {{"space", "regions"}, {"restart", "warm"}, {"keys", "immutable"}}};

// The keys that a specification names; none if it has no such form.
std::optional<SeenKeys> keys_of(std::string_view spec) {
  constexpr QueryForm kForm = {.scheme = "nvcache://", .form = ""};
  absl::StatusOr<std::string_view> query = query_of(spec, kForm);
  if (!query.ok()) return std::nullopt;
  SeenKeys keys;
  while (!query->empty()) {
    const auto [pair, rest] = split_once(*query, '&');
    if (!pair.empty()) keys.add(split_once(pair, '=').first);
    *query = rest;
  }
  return keys;
}

bool is_on_device(std::string_view medium) {
  const MediumRow* const row = find_medium_row(medium);
  if (row == nullptr || row->is_emulated) return false;
  return row->owns == Owns::kDevice ||
         (row->owns == Owns::kFile && medium.ends_with(",io=direct"));
}

// Whether the user asks for what only regions have.
bool asks_for_regions(const SeenKeys& keys) {
  for (const std::string_view key :
       {"space", "region", "rewrite", "discard", "format", "restart", "restart_rate", "keys"}) {
    if (keys.contains(key)) return true;
  }
  return false;
}

}  // namespace

std::string with_restart_settings(std::string_view spec) {
  const std::string given(strip(spec));  // what is added must come before the end that is stripped
  const std::optional<SeenKeys> keys = keys_of(given);
  if (!keys) return given;
  std::string completed = given;
  for (const auto& [key, value] : kRestartSettings) {
    if (!keys->contains(key)) completed.append("&").append(key).append("=").append(value);
  }
  const absl::StatusOr<Config> config = parse_config(completed);
  if (!config.ok() || !is_on_device(config->medium)) return given;
  if (config->space == SpaceKind::kInPlace || config->restart == Restart::kCold) return given;
  const bool large = config->size_bytes / kLeastRegions >= region_bytes_of(*config);
  return large || asks_for_regions(*keys) ? completed : given;
}

}  // namespace nvcache::rocksdb
