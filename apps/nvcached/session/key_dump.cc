#include "apps/nvcached/session/key_dump.h"

#include <string>

#include "apps/nvcached/protocol/words.h"
#include "apps/nvcached/service/watch_log.h"
#include "base/assert.h"
#include "base/text.h"

namespace nvcache::server {

Turn KeyDump::turn(const TextRequest& request, size_t line_bytes, Output& out) {
  const bool meta = request.op == TextOp::kMetadump;
  NVCACHE_ASSERT_SLOW(active_ || cursor_ == 0);
  if (!active_) {
    active_ = true;
    left_ = meta ? 0 : request.delta;
  }
  cursor_ = items_.visit(cursor_, [&](std::string_view key, const ItemSummary& item) {
    if (meta) {
      append_meta(key, item, out);
    } else if (active_) {
      append_item(key, item, out);
    }
  });
  if (active_ && cursor_ != 0) {
    return {0, out.size() >= Turn::kFullOutputBytes ? Turn::kFull : Turn::kGoOn};
  }
  end();
  out.append("END\r\n");
  return {line_bytes};
}

void KeyDump::end() {
  active_ = false;
  cursor_ = left_ = 0;
}

void KeyDump::append_item(std::string_view key, const ItemSummary& item, Output& out) {
  out.append(fmt::format("ITEM {} [{} b; {} s]\r\n", one_word(key), item.value_bytes,
                         item.expires_s == 0 ? 0 : items_.wall_s(item.expires_s)));
  if (left_ > 0 && --left_ == 0) active_ = false;
}

void KeyDump::append_meta(std::string_view key, const ItemSummary& item, Output& out) {
  const ItemHints::Hint hint = items_.hints().find(key);
  std::string encoded;
  append_uri_encoded(key, encoded);
  out.append("key=");
  out.append(encoded);
  const int64_t expires_s = item.expires_s == 0 ? -1 : items_.wall_s(item.expires_s);
  const size_t bytes = key.size() + item.value_bytes + Items::kItemOverheadBytes;
  out.append(fmt::format(" exp={} la={} cas={} fetch={} cls=1 size={}\n", expires_s, hint.last_s,
                         item.cas, hint.fetched ? "yes" : "no", bytes));
}

}  // namespace nvcache::server
