// A dump of keys: `lru_crawler metadump` or `stats cachedump`. It looks at a part of the store each
// turn, so that it neither fills memory nor keeps other connections waiting. The first part is
// longer: it has the keys of the write cache, whose values have 64 MiB at most. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/nvcached/protocol/text_protocol.h"
#include "apps/nvcached/service/items.h"
#include "apps/nvcached/session/output.h"
#include "apps/nvcached/session/turn.h"

namespace nvcache::server {

class KeyDump {
 public:
  // `items` must outlive it.
  explicit KeyDump(Items& items) : items_(items) {}

  // Serves the next part of the dump that this line asks for. The line stays unread until its dump
  // is done, and is parsed again for each part.
  Turn turn(const TextRequest& request, size_t line_bytes, Output& out);

  bool is_under_way() const { return active_; }

 private:
  void append_meta(std::string_view key, const ItemSummary& item, Output& out);
  void append_item(std::string_view key, const ItemSummary& item, Output& out);
  void end();

  Items& items_;
  bool active_ = false;
  uint64_t cursor_ = 0;  // of Items::visit()
  uint64_t left_ = 0;    // items that may follow; 0: any number
};

}  // namespace nvcache::server
