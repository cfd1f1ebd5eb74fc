#include "apps/nvcache/stats_snapshot.h"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "apps/nvcache/prometheus_lines.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

using nlohmann::json;

constexpr std::string_view kWiredTigerFormat = "nvcache.wiredtiger/1";
constexpr size_t kMostTiers = 64;

// The names in each kind's Prometheus text begin with these.
constexpr std::string_view kServerPrefix = "nvcached_";
constexpr std::string_view kLatencyPrefix = "request_seconds_";
constexpr std::string_view kTieredPrefix = "nvcache_tiered_";
constexpr std::string_view kTierPrefix = "nvcache_tier_";
constexpr std::string_view kStorePrefix = "nvcache_kv_";
constexpr std::string_view kFilePrefix = "nvcache_file_";
constexpr std::string_view kCachePrefix = "nvcache_";

// The ends of the JSON objects that stand one behind the other in `text`, which begins with one.
std::vector<size_t> ends_of_objects(std::string_view text) {
  std::vector<size_t> ends;
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && depth > 0 && --depth == 0) {
      ends.push_back(i + 1);
    }
  }
  return ends;
}

StatsGroup group_of(const json& object) {
  StatsGroup group;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number()) group.numbers[name] = value.get<double>();
    if (value.is_boolean()) group.numbers[name] = value.get<bool>() ? 1 : 0;
    if (value.is_string()) group.texts[name] = value.get<std::string>();
    if (name != "refused" || !value.is_object()) continue;
    for (const auto& [reason, count] : value.items()) {
      if (count.is_number()) group.refused[reason] = count.get<double>();
    }
  }
  return group;
}

std::string format_of(const json& object) {
  const auto format = object.find("format");
  return format != object.end() && format->is_string() ? format->get<std::string>() : "";
}

Status other_json(const json& object) {
  if (const std::string format = format_of(object); !format.empty()) {
    return failed_precondition_error(
        fmt::format("is JSON of the format '{}'; allowed: statistics of nvcache, or {}", format,
                    kWiredTigerFormat));
  }
  return failed_precondition_error("is JSON, but no statistics of nvcache: it has no hits");
}

StatusOr<StatsSnapshot> snapshot_of_json(const json& object) {
  StatsSnapshot snapshot;
  const auto has = [&object](const char* name) { return object.contains(name); };
  if (format_of(object) == kWiredTigerFormat && has("cache") && has("files")) {
    if (object["cache"].is_object()) snapshot.whole = group_of(object["cache"]);
    if (object["files"].is_object()) snapshot.files = group_of(object["files"]);
    return snapshot;
  }
  snapshot.whole = group_of(object);
  if (has("tiers") && has("lookups") && object["tiers"].is_array()) {
    snapshot.kind = StatsKind::kTieredCache;
    for (const json& tier : object["tiers"]) {
      StatsTier& added = snapshot.tiers.emplace_back();
      if (!tier.is_object()) return other_json(object);
      added.tier = group_of(tier);
      if (tier.contains("block_cache") && tier["block_cache"].is_object()) {
        added.cache = group_of(tier["block_cache"]);
      }
    }
    return snapshot;
  }
  if (has("gets") && has("hits") && has("durability")) {
    snapshot.kind = StatsKind::kStore;
    return snapshot;
  }
  if (has("format") || !has("hits") || !has("misses")) return other_json(object);
  return snapshot;
}

StatusOr<StatsSnapshot> parse_json(std::string_view text) {
  const std::vector<size_t> ends = ends_of_objects(text);
  if (ends.empty()) return data_loss_error("is half written: its JSON has no end");
  const size_t first = ends.size() == 1 ? 0 : ends[ends.size() - 2];
  const json object = json::parse(text.substr(first, ends.back() - first), nullptr,
                                  /*allow_exceptions=*/false);
  if (!object.is_object()) return data_loss_error("is no whole JSON: damaged, or half written");
  StatusOr<StatsSnapshot> snapshot = snapshot_of_json(object);
  if (snapshot.ok()) snapshot->documents = ends.size();
  return snapshot;
}

// Adds from the histogram of nvcached's latencies: a step of one command, or a sum that is not
// shown.
void add_latency(const PrometheusSample& sample, StatsSnapshot* into) {
  const auto bound = sample.labels.find("le");
  const auto command = sample.labels.find("command");
  if (bound == sample.labels.end() || command == sample.labels.end()) return;
  const double seconds = std::strtod(bound->second.c_str(), nullptr);
  if (!std::isnan(seconds)) into->latencies[command->second].up_to[seconds] = sample.value;
}

// Adds a sample to a group. That of `refused` has a reason, that of `info` has only labels.
void add_sample(std::string_view name, const PrometheusSample& sample, StatsGroup* group) {
  if (name == "info") {
    for (const auto& [label, value] : sample.labels) {
      if (label != "tier" && !value.empty()) group->texts[label] = value;
    }
    return;
  }
  if (name.ends_with("_total")) name.remove_suffix(std::string_view("_total").size());
  const auto reason = sample.labels.find("reason");
  if (reason != sample.labels.end()) {
    if (name == "refused") group->refused[reason->second] = sample.value;
    return;
  }
  group->numbers[std::string(name)] = sample.value;
}

// The tier that a sample is of: none without the label; nothing if the label is no number.
std::optional<size_t> tier_of(const PrometheusSample& sample) {
  const auto label = sample.labels.find("tier");
  if (label == sample.labels.end() || label->second.empty()) return std::nullopt;
  size_t number = 0;
  for (const char c : label->second) {
    if (c < '0' || c > '9' || number >= kMostTiers) return std::nullopt;
    number = number * 10 + static_cast<size_t>(c - '0');
  }
  return number < kMostTiers ? std::optional(number) : std::nullopt;
}

// The group that a sample belongs to, and its name without the prefix that says so.
StatsGroup* group_for(std::string_view* name, const PrometheusSample& sample, StatsSnapshot* into) {
  const auto begins = [name](std::string_view prefix) {
    if (!name->starts_with(prefix)) return false;
    name->remove_prefix(prefix.size());
    return true;
  };
  const std::optional<size_t> tier = tier_of(sample);
  const auto in_tier = [&](auto part) -> StatsGroup* {
    if (into->tiers.size() <= *tier) into->tiers.resize(*tier + 1);
    return &(into->tiers[*tier].*part);
  };
  if (begins(kServerPrefix)) {
    into->kind = StatsKind::kServer;
    return &into->whole;
  }
  if (begins(kTieredPrefix)) {
    into->kind = StatsKind::kTieredCache;
    return &into->whole;
  }
  if (begins(kTierPrefix)) return tier ? in_tier(&StatsTier::tier) : nullptr;
  if (begins(kStorePrefix)) {
    into->kind = StatsKind::kStore;
    return &into->whole;
  }
  if (begins(kFilePrefix)) return &into->files;
  if (!begins(kCachePrefix)) return nullptr;
  return tier ? in_tier(&StatsTier::cache) : &into->whole;
}

StatusOr<StatsSnapshot> parse_prometheus(std::string_view text) {
  StatsSnapshot snapshot;
  bool found = false;
  bool malformed = false;
  for_each_sample(text, [&](const PrometheusSample* sample) {
    malformed |= sample == nullptr;
    if (sample == nullptr) return;
    std::string_view name = sample->name;
    StatsGroup* const group = group_for(&name, *sample, &snapshot);
    if (group == nullptr) return;
    found = true;
    if (snapshot.kind == StatsKind::kServer && name.starts_with(kLatencyPrefix)) {
      add_latency(*sample, &snapshot);
    } else {
      add_sample(name, *sample, group);
    }
  });
  if (!found) {
    return failed_precondition_error(
        malformed ? "is neither JSON nor Prometheus text"
                  : "is Prometheus text, but of no metric of nvcache (nvcache_*, nvcached_*)");
  }
  if (malformed || !text.ends_with('\n')) {
    return data_loss_error("is half written: its last line has no end, or another is cut");
  }
  return snapshot;
}

}  // namespace

std::optional<double> StatsGroup::number(std::string_view name) const {
  const auto found = numbers.find(name);
  if (found == numbers.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

std::string StatsGroup::text(std::string_view name) const {
  const auto found = texts.find(name);
  return found == texts.end() ? "" : found->second;
}

std::string_view name_of(StatsKind kind) {
  switch (kind) {
    case StatsKind::kBlockCache:
      return "block cache";
    case StatsKind::kTieredCache:
      return "tiered cache";
    case StatsKind::kStore:
      return "key-value store";
    case StatsKind::kServer:
      break;
  }
  return "nvcached";
}

StatusOr<StatsSnapshot> parse_stats(std::string_view text) {
  const std::string_view stripped = strip(text);
  if (stripped.empty()) return data_loss_error("is empty: its program has written nothing yet");
  if (stripped.front() == '{') return parse_json(stripped);
  return parse_prometheus(text);
}

}  // namespace nvcache
