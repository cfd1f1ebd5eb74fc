#include "adapters/wiredtiger/extension_config.h"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/wiredtiger/cache_settings.h"
#include "base/text.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr char kAllowedKeys[] = "cache, writes, stats, stats_interval, prometheus, log_dsync";

StatusOr<OnWrite> parse_on_write(std::string_view text) {
  if (text == "offer") return OnWrite::kOffer;
  if (text == "update") return OnWrite::kUpdate;
  if (text == "skip") return OnWrite::kSkip;
  return invalid_argument("writes={}; allowed: offer, update, skip", text);
}

StatusOr<double> parse_seconds(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0) ||
      seconds > 86400) {
    return invalid_argument(
        "stats_interval={}; allowed: seconds from 0 (only when closing) to 86400", text);
  }
  return seconds;
}

Status take(std::string_view key, const WT_CONFIG_ITEM& value, ExtensionConfig* config) {
  const std::string text(value.str, value.len);
  if (key == "cache") {
    const bool list = value.type == WT_CONFIG_ITEM::WT_CONFIG_ITEM_STRUCT && text.size() >= 2;
    StatusOr<std::optional<Config>> cache = list ? read_cache_list(text) : read_cache(text);
    if (!cache.ok()) return cache.status();
    config->cache = *std::move(cache);
  } else if (key == "writes") {
    const auto on_write = parse_on_write(text);
    if (!on_write.ok()) return on_write.status();
    config->on_write = *on_write;
  } else if (key == "stats") {
    config->stats.json_path = text;
  } else if (key == "prometheus") {
    config->stats.prometheus_path = text;
  } else if (key == "stats_interval") {
    const auto seconds = parse_seconds(text);
    if (!seconds.ok()) return seconds.status();
    config->stats.interval_seconds = *seconds;
  } else if (key == "log_dsync") {
    if (text != "true" && text != "false") {
      return invalid_argument("log_dsync={}; allowed: true, false", text);
    }
    config->log_dsync = text == "true";
  } else {
    return invalid_argument("unknown key {} in config=(...); allowed: {}", key, kAllowedKeys);
  }
  return ok_status();
}

}  // namespace

StatusOr<ExtensionConfig> read_extension_config(WT_EXTENSION_API* api, WT_CONFIG_ARG* text) {
  ExtensionConfig config;
  WT_CONFIG_PARSER* parser = nullptr;
  if (text == nullptr || api->config_parser_open_arg(api, nullptr, text, &parser) != 0) {
    return config;  // nothing in config=()
  }
  Status status;
  WT_CONFIG_ITEM key;
  WT_CONFIG_ITEM value;
  int error = 0;
  while (status.ok() && (error = parser->next(parser, &key, &value)) == 0) {
    status = take(std::string_view(key.str, key.len), value, &config);
  }
  (void)parser->close(parser);
  if (!status.ok()) return status;
  if (error != WT_NOTFOUND) {
    return invalid_argument(
        "config=(...) cannot be read; a cache specification must be quoted: "
        "cache=\"nvcache://?size=1GiB&medium=dram\"");
  }
  return config;
}

}  // namespace nvcache
