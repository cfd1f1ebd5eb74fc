#include "apps/nvcached/session/watch_lines.h"

#include <algorithm>
#include <string>

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

void WatchLines::tell_lookup(std::string_view key) {
  if (!log_.wants(WatchLog::kFetchers)) return;
  const Found found = items_.get(key, false);
  tell_fetch(key, found);
}

void WatchLines::tell_fetch(std::string_view key, const Found& found) {
  log_.add(
      WatchLog::kFetchers,
      fmt::format("type=item_get key={} status={} clsid={} cfd={} size={}", encoded(key),
                  found ? "found" : "not_found", found ? kClass : 0, name_, found.value.size()));
}

void WatchLines::tell_store(std::string_view key, ItemStatus status, std::string_view command,
                            uint32_t expires_s, uint64_t value_bytes) {
  const int64_t ttl_s = expires_s == 0 ? 0 : std::max(items_.seconds_left(expires_s), int64_t{0});
  log_.add(WatchLog::kMutations,
           fmt::format("type=item_store key={} status={} cmd={} ttl={} clsid={} cfd={} size={}",
                       encoded(key), name_of(status), command, ttl_s, kClass, name_, value_bytes));
}

void WatchLines::tell_erased(std::string_view key, uint64_t value_bytes) {
  log_.add(WatchLog::kDeletions,
           fmt::format("type=deleted key={} cmd=delete clsid={} cfd={} size={}", encoded(key),
                       kClass, name_, value_bytes));
}

}  // namespace nvcache::server
