// Dumps of keys: `lru_crawler metadump` and `stats cachedump`. A dump looks at a part of the store
// each turn, so that it neither fills memory nor keeps other connections waiting. The first part is
// longer: it has the keys of the write cache, whose values have 64 MiB at most.
#include <algorithm>

#include "apps/nvcached/protocol/words.h"
#include "apps/nvcached/session/session.h"
#include "base/assert.h"
#include "base/text.h"

namespace nvcache::server {
// The line stays unread until its dump is done, and is parsed again for each part.
Turn Session::dump_turn(const TextRequest& request, size_t line_bytes, Output& out) {
  const bool meta = request.op == TextOp::kMetadump;
  NVCACHE_ASSERT_SLOW(dump_.active || dump_.cursor == 0);
  if (!dump_.active) dump_ = {.active = true, .cursor = 0, .left = meta ? 0 : request.delta};
  dump_.cursor = items_.visit(dump_.cursor, [&](std::string_view key, const ItemSummary& item) {
    if (meta) return append_metadump(key, item, out);
    if (!dump_.active) return;
    out.append(fmt::format("ITEM {} [{} b; {} s]\r\n", one_word(key), item.value_bytes,
                           item.expires_s == 0 ? 0 : items_.wall_s(item.expires_s)));
    if (dump_.left > 0 && --dump_.left == 0) dump_.active = false;
  });
  if (dump_.active && dump_.cursor != 0) {
    return {0, out.size() >= kFullOutputBytes ? Turn::kFull : Turn::kGoOn};
  }
  dump_ = {};
  out.append("END\r\n");
  return {line_bytes};
}

void Session::append_metadump(std::string_view key, const ItemSummary& item, Output& out) {
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
