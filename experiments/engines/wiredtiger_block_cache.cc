#include "experiments/engines/wiredtiger_block_cache.h"

#include <array>
#include <cstdint>

#include "base/text.h"
#include "base/units.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr std::string_view kScheme = "wtcache:";

struct Option {
  std::string_view key;         // as users write it
  std::string_view wiredtiger;  // as WiredTiger does
  bool is_size = false;
};

constexpr std::array<Option, 10> kOptions = {{
    {"size", "size", true},
    {"aggression", "blkcache_eviction_aggression"},
    {"full_target", "full_target"},
    {"hashsize", "hashsize"},
    {"max_percent_overhead", "max_percent_overhead"},
    {"percent_file_in_dram", "percent_file_in_dram"},
    {"system_ram", "system_ram", true},
    {"nvram_path", "nvram_path"},
    {"cache_on_writes", "cache_on_writes"},
    {"cache_on_checkpoint", "cache_on_checkpoint"},
}};

std::string allowed_keys() {
  std::string keys;
  for (const Option& option : kOptions) {
    if (!keys.empty()) keys += ", ";
    keys += option.key;
  }
  return keys;
}

// One "key=value" in WiredTiger's words.
StatusOr<std::string> translate(std::string_view text) {
  const auto [key, value] = split_once(text, '=');
  for (const Option& option : kOptions) {
    if (option.key != key) continue;
    if (value.empty() || value.find_first_of("()[]{}\"") != std::string_view::npos) {
      return invalid_argument("wtcache: {}='{}' is no value", key, value);
    }
    if (!option.is_size) return fmt::format("{}={}", option.wiredtiger, value);
    const auto size_bytes = parse_size_bytes(value);
    if (!size_bytes.ok()) return size_bytes.status();
    return fmt::format("{}={}", option.wiredtiger, *size_bytes);
  }
  return invalid_argument("wtcache: '{}': allowed keys are {}", text, allowed_keys());
}

struct FirstMessage {
  WT_EVENT_HANDLER handler = {};  // first, so that a handler is its FirstMessage
  std::string text;
};

// WiredTiger checks the ranges.
Status validate(const std::string& config) {
  FirstMessage message;
  message.handler.handle_error = [](WT_EVENT_HANDLER* self, WT_SESSION*, int, const char* text) {
    auto* first = reinterpret_cast<FirstMessage*>(self);
    if (first->text.empty()) first->text = text;
    return 0;
  };
  const int error =
      ::wiredtiger_config_validate(nullptr, &message.handler, "wiredtiger_open", config.c_str());
  if (error == 0) return ok_status();
  return invalid_argument("wtcache: WiredTiger does not allow {}: {}", config, message.text);
}

uint64_t statistic(WT_CURSOR* cursor, int key) {
  const char* description = nullptr;
  const char* text = nullptr;
  int64_t value = 0;
  cursor->set_key(cursor, key);
  if (cursor->search(cursor) != 0) return 0;
  if (cursor->get_value(cursor, &description, &text, &value) != 0 || value < 0) return 0;
  return static_cast<uint64_t>(value);
}

Stats block_cache_stats(WT_CURSOR* cursor) {
  const auto value = [&](int key) { return statistic(cursor, key); };
  Stats stats;
  stats.hits = value(WT_STAT_CONN_BLOCK_CACHE_HITS);
  stats.misses = value(WT_STAT_CONN_BLOCK_CACHE_MISSES);
  stats.inserts = value(WT_STAT_CONN_BLOCK_CACHE_BLOCKS_INSERT_READ) +
                  value(WT_STAT_CONN_BLOCK_CACHE_BLOCKS_INSERT_WRITE);
  stats.evictions = value(WT_STAT_CONN_BLOCK_CACHE_BLOCKS_EVICTED);
  stats.erases = value(WT_STAT_CONN_BLOCK_CACHE_BLOCKS_REMOVED);
  stats.removals = stats.evictions + stats.erases;
  stats.medium_written_bytes = value(WT_STAT_CONN_BLOCK_CACHE_BYTES_INSERT_READ) +
                               value(WT_STAT_CONN_BLOCK_CACHE_BYTES_INSERT_WRITE);
  stats.overhead_ratio = stats.hits + stats.misses == 0
                             ? 0
                             : static_cast<double>(stats.inserts + stats.removals) /
                                   static_cast<double>(stats.hits + stats.misses);
  stats.blocks = value(WT_STAT_CONN_BLOCK_CACHE_BLOCKS);
  stats.data_bytes = value(WT_STAT_CONN_BLOCK_CACHE_BYTES);
  stats.medium = "WiredTiger's block cache";
  stats.admission = "WiredTiger's own";
  stats.eviction = "WiredTiger's own";
  return stats;
}

}  // namespace

StatusOr<std::string> wiredtiger_block_cache_config(std::string_view spec) {
  if (!spec.starts_with(kScheme)) {
    return invalid_argument("'{}': WiredTiger's own block cache is wtcache:dram,size=...", spec);
  }
  auto [type, rest] = split_once(spec.substr(kScheme.size()), ',');
  if (type != "dram" && type != "nvram") {
    return invalid_argument("wtcache: '{}': allowed types are dram and nvram", type);
  }
  std::string config = fmt::format("block_cache=(enabled=true,type={}", type);
  bool has_size = false;
  while (!rest.empty()) {
    const auto [option, others] = split_once(rest, ',');
    auto translated = translate(option);
    if (!translated.ok()) return translated.status();
    has_size |= option.starts_with("size=");
    config += "," + *translated;
    rest = others;
  }
  config += ")";
  if (!has_size) return invalid_argument("wtcache: '{}' has no size=", spec);
  if (Status status = validate(config); !status.ok()) return status;
  return config;
}

void add_wiredtiger_statistics(WT_SESSION* session, bool own_cache, EngineMetrics* metrics) {
  WT_CURSOR* cursor = nullptr;
  if (session->open_cursor(session, "statistics:", nullptr, "statistics=(fast)", &cursor) != 0) {
    return;
  }
  metrics->stall_us = statistic(cursor, WT_STAT_CONN_APPLICATION_CACHE_TIME);
  if (own_cache) metrics->tier = block_cache_stats(cursor);
  cursor->close(cursor);
}

}  // namespace nvcache
