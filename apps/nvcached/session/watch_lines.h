// The lines that watchers get of what one client does. They are memcached's; where its source looks
// an item up before it changes it, fetchers see that lookup here, too. Without a watcher of its
// kind a line costs one relaxed load: the caller asks wants() before it makes up what to tell. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/nvcached/service/items.h"
#include "apps/nvcached/service/watch_log.h"

namespace nvcache::server {

class WatchLines {
 public:
  // `name` identifies the client. `items` and `log` must outlive it.
  WatchLines(Items& items, WatchLog& log, int name) : items_(items), log_(log), name_(name) {}

  bool wants(WatchLog::Kind kind) const { return log_.wants(kind); }

  // Looks the item up, if there are fetchers.
  void tell_lookup(std::string_view key);
  void tell_fetch(std::string_view key, const Found& found);
  void tell_store(std::string_view key, ItemStatus status, std::string_view command,
                  uint32_t expires_s, uint64_t value_bytes);
  void tell_erased(std::string_view key, uint64_t value_bytes);

 private:
  Items& items_;
  WatchLog& log_;
  const int name_;
};

// Watchers' name for a request.
std::string_view watched_name(const StoreRequest& request);

}  // namespace nvcache::server
