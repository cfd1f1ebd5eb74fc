#include "adapters/rocksdb/program_settings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "fmt/format.h"
#include "nvcache/status_or.h"
#include "spec/query.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache::rocksdb {
namespace {

using Settings = std::map<std::string_view, std::string_view>;

// The settings of a specification by key; none if it has no such form.
std::optional<Settings> settings_of(std::string_view spec) {
  constexpr QueryForm kForm = {.scheme = "tiered://", .form = "", .brackets = true};
  StatusOr<std::string_view> query = query_of(spec, kForm);
  if (!query.ok()) return std::nullopt;
  Settings settings;
  while (!query->empty()) {
    std::pair<std::string_view, std::string_view> parts;
    if (!split_outside(*query, '&', /*brackets=*/true, &parts)) return std::nullopt;
    *query = parts.second;
    if (!parts.first.empty()) settings.insert(split_once(parts.first, '='));
  }
  return settings;
}

// Of the pools, which have the whole cache at most.
double share_beside(const Settings& given, std::string_view other, double share) {
  const auto found = given.find(other);
  if (found == given.end()) return share;
  const StatusOr<double> taken = parse_number(other, found->second, 0, 1);
  return taken.ok() ? std::min(share, 1 - *taken) : share;
}

void append(std::string_view key, std::string_view value, std::string* spec) {
  const char before = spec->find('?') == std::string::npos ? '?' : '&';
  *spec += fmt::format("{}{}={}", before, key, value);
}

}  // namespace

bool has_warm_tier_of_its_own(std::string_view spec) {
  const StatusOr<TieredConfig> config = parse_tiered_config(spec);
  return config.ok() && std::ranges::any_of(config->tiers, [](const TierConfig& tier) {
           return tier.restarts_warm() && tier.name.empty();
         });
}

std::string with_immutable_keys(std::string_view spec) {
  spec = strip(spec);
  std::string merged(spec);
  const std::optional<Settings> given = settings_of(spec);  // views of what does not grow
  if (given && !given->contains("keys")) append("keys", "immutable", &merged);
  if (given && !given->contains("owner")) append("owner", "*", &merged);
  return merged;
}

bool can_replace(const ProgramCache& program) {
  const double high = program.high_ratio;
  const double low = program.low_ratio;
  return program.shard_bits <= TieredConfig::kMaxShardBits && high >= 0 && low >= 0 &&
         high + low <= 1;
}

ProgramSettings with_program_settings(std::string_view spec, const ProgramCache& program) {
  spec = strip(spec);
  ProgramSettings merged{.spec = std::string(spec)};
  const std::optional<Settings> given = settings_of(spec);
  if (!given) return merged;
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!given->contains(key)) append(key, value, &merged.spec);
  };
  merged.nothing =
      program.capacity_bytes == 0 && !given->contains("dram") && !given->contains("tier");
  add("dram", std::to_string(merged.nothing ? 1 : program.capacity_bytes));
  add("strict", program.strict ? "on" : "off");
  add("high_priority", fmt::format("{}", share_beside(*given, "low_priority", program.high_ratio)));
  add("low_priority", fmt::format("{}", share_beside(*given, "high_priority", program.low_ratio)));
  add("metadata", program.charge_metadata ? "charge" : "free");
  const int bits = program.shard_bits;
  add("shards", bits < 0 ? "auto" : std::to_string(uint64_t{1} << std::min(bits, 32)));
  return merged;
}

}  // namespace nvcache::rocksdb
