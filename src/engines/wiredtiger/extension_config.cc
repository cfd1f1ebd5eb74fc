#include "engines/wiredtiger/extension_config.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr char kAllowedKeys[] = "cache, writes, stats, stats_interval, prometheus, log_dsync";

absl::StatusOr<OnWrite> parse_on_write(std::string_view text) {
  if (text == "offer") return OnWrite::kOffer;
  if (text == "update") return OnWrite::kUpdate;
  if (text == "skip") return OnWrite::kSkip;
  return invalid_argument("writes={}; allowed: offer, update, skip", text);
}

absl::StatusOr<double> parse_seconds(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0) ||
      seconds > 86400) {
    return invalid_argument(
        "stats_interval={}; allowed: seconds from 0 (only when closing) to 86400", text);
  }
  return seconds;
}

// WiredTiger's own way to write lists, for where quotes cannot be had (wtperf), as a
// specification:
// (size=1GiB,medium=[file:/x,io=direct],admission=[small_bypass=8GiB,obp=[0.1,window]]) is
// size=1GiB&medium=file:/x,io=direct&admission=small_bypass(8GiB)+obp(0.1,window).
std::string spec_of_struct(std::string_view text) {
  std::string out = "nvcache://?";
  size_t key_at = out.size();
  int depth = 0;
  bool argument = false;  // of a policy, after its '='
  for (const char c : text.substr(1, text.size() - 2)) {
    const std::string_view key = std::string_view(out).substr(key_at);
    const bool policy = key.starts_with("admission=") || key.starts_with("eviction=");
    if (c == '"') continue;
    if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      if (--depth == 0 && std::exchange(argument, false)) out.push_back(')');
    } else if (c == ',' && depth == 0) {
      out.push_back('&');
      key_at = out.size();
    } else if (c == ',' && depth == 1 && policy) {
      if (std::exchange(argument, false)) out.push_back(')');
      out.push_back('+');
    } else if (c == '=' && depth == 1 && policy) {
      argument = true;
      out.push_back('(');
    } else {
      out.push_back(c);
    }
  }
  return out;
}

absl::Status take(std::string_view key, const WT_CONFIG_ITEM& value, ExtensionConfig* config) {
  const std::string text(value.str, value.len);
  if (key == "cache") {
    const bool list = value.type == WT_CONFIG_ITEM::WT_CONFIG_ITEM_STRUCT && text.size() >= 2;
    config->cache_spec = complete_cache_spec(list ? spec_of_struct(text) : text);
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
  return absl::OkStatus();
}

}  // namespace

std::string complete_cache_spec(std::string spec) {
  const auto has = [&](std::string_view what) {
    const size_t at = spec.find(what);
    return at != std::string::npos && at != 0 && (spec[at - 1] == '?' || spec[at - 1] == '&');
  };
  for (const std::string_view zero : {"size=0", "size=0B", "size=0MiB"}) {
    if (!has(zero)) continue;
    const size_t end = spec.find(zero) + zero.size();
    if (end == spec.size() || spec[end] == '&') return "";
  }
  if (!spec.empty() && !has("verify=")) spec += "&verify=always";
  return spec;
}

absl::StatusOr<ExtensionConfig> read_extension_config(WT_EXTENSION_API* api, WT_CONFIG_ARG* text) {
  ExtensionConfig config;
  WT_CONFIG_PARSER* parser = nullptr;
  if (text == nullptr || api->config_parser_open_arg(api, nullptr, text, &parser) != 0) {
    return config;  // nothing in config=()
  }
  absl::Status status;
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
