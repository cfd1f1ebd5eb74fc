// What a session tells the watchers of what its client does. The lines are memcached's; where its
// source looks an item up before it changes it, fetchers see that lookup here, too.
#include <algorithm>

#include "apps/nvcached/session/session.h"
#include "base/text.h"

namespace nvcache::server {
namespace {

constexpr int kClass = 1;  // every item's slab class

std::string_view name_of(ItemStatus status) {
  switch (status) {
    case ItemStatus::kOk:
      return "stored";
    case ItemStatus::kNotFound:
      return "not_found";
    case ItemStatus::kExists:
      return "exists";
    case ItemStatus::kTooLarge:
      return "too_large";
    case ItemStatus::kNoMemory:
      return "no_memory";
    case ItemStatus::kMediumFailed:
      return "medium_failed";
    default:
      return "not_stored";
  }
}

std::string encoded(std::string_view key) {
  std::string text;
  append_uri_encoded(key, text);
  return text;
}

}  // namespace

std::string_view watched_name(const StoreRequest& request) {
  if (request.compare) return "cas";
  switch (request.mode) {
    case StoreMode::kSet:
      return "set";
    case StoreMode::kAdd:
      return "add";
    case StoreMode::kReplace:
      return "replace";
    case StoreMode::kAppend:
      return "append";
    case StoreMode::kPrepend:
      return "prepend";
  }
  return "set";
}

// `watch KINDS`. From its answer on, the client gets lines and asks nothing more.
Turn Session::watch_turn(std::string_view words, size_t line_bytes, Output& out) {
  if (!service_.settings().watch_enabled) {
    out.append("CLIENT_ERROR watch commands not allowed\r\n");
    return {line_bytes};
  }
  const auto kinds = WatchLog::parse_kinds(words);
  if (!kinds) {
    out.append("ERROR\r\n");
    return {line_bytes};
  }
  watcher_ = service_.watch(*kinds);
  if (watcher_ == nullptr) {
    out.append("WATCHER_TOO_MANY log watchers\r\n");
    return {line_bytes};
  }
  out.append("OK\r\n");
  return {line_bytes, Turn::kWatch};
}

void Session::tell_lookup(std::string_view key) {
  if (!service_.watch_log().wants(WatchLog::kFetchers)) return;
  const Found found = items_.get(key, false);
  tell_fetch(key, found);
}

void Session::tell_fetch(std::string_view key, const Found& found) {
  service_.watch_log().add(
      WatchLog::kFetchers,
      fmt::format("type=item_get key={} status={} clsid={} cfd={} size={}", encoded(key),
                  found ? "found" : "not_found", found ? kClass : 0, name_, found.value.size()));
}

void Session::tell_store(std::string_view key, ItemStatus status, std::string_view command,
                         uint32_t expires_s, uint64_t value_bytes) {
  const int64_t ttl_s = expires_s == 0 ? 0 : std::max(items_.seconds_left(expires_s), int64_t{0});
  service_.watch_log().add(
      WatchLog::kMutations,
      fmt::format("type=item_store key={} status={} cmd={} ttl={} clsid={} cfd={} size={}",
                  encoded(key), name_of(status), command, ttl_s, kClass, name_, value_bytes));
}

void Session::tell_erased(std::string_view key, uint64_t value_bytes) {
  service_.watch_log().add(WatchLog::kDeletions,
                           fmt::format("type=deleted key={} cmd=delete clsid={} cfd={} size={}",
                                       encoded(key), kClass, name_, value_bytes));
}

}  // namespace nvcache::server
