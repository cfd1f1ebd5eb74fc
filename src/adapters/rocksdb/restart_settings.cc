#include "adapters/rocksdb/restart_settings.h"

#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "block_cache/api/config.h"
#include "medium/table.h"
#include "nvcache/status_or.h"
#include "spec/query.h"

namespace nvcache::rocksdb {
namespace {

struct RestartSetting {
  std::string_view key;
  std::string_view value;
};
constexpr std::array<RestartSetting, 2> kRestartSettings = {
    {{"restart", "warm"}, {"keys", "immutable"}}};

// The keys that a specification names; none if it has no such form.
std::optional<SeenKeys> keys_of(std::string_view spec) {
  constexpr QueryForm kForm = {.scheme = "nvcache://", .form = ""};
  StatusOr<std::string_view> query = query_of(spec, kForm);
  if (!query.ok()) return std::nullopt;
  SeenKeys keys;
  while (!query->empty()) {
    const auto [pair, rest] = split_once(*query, '&');
    if (!pair.empty()) keys.add(split_once(pair, '=').first);
    *query = rest;
  }
  return keys;
}

}  // namespace

std::string with_restart_settings(std::string_view spec) {
  std::string given(strip(spec));  // what is added must come before the end that is stripped
  const std::optional<SeenKeys> keys = keys_of(given);
  if (!keys) return given;
  const StatusOr<Config> config = parse_config(given);
  if (!config.ok() || config->space == SpaceKind::kInPlace || !is_on_device(config->medium)) {
    return given;
  }
  if (config->restart == Restart::kCold && keys->contains("restart")) return given;
  std::string completed = given;
  for (const auto& [key, value] : kRestartSettings) {
    if (!keys->contains(key)) completed.append("&").append(key).append("=").append(value);
  }
  return completed;
}

}  // namespace nvcache::rocksdb
