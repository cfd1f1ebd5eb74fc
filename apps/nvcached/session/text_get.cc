#include "apps/nvcached/session/text_get.h"

#include <utility>

#include "apps/nvcached/protocol/key_parser.h"
#include "base/assert.h"

namespace nvcache::server {

Turn TextGet::begin(const TextRequest& request, size_t line_bytes, std::string_view in,
                    Output& out) {
  NVCACHE_ASSERT_SLOW(!active_);
  broken_ = false;
  op_ = request.op;
  expires_s_ = client_.items().expiry(request.exptime);
  for (std::string_view keys = request.arguments;;) {
    std::string_view rest = keys;
    const Key key = next_key(rest);
    if (key.fault == KeyFault::kMissing) break;
    if (out.size() >= Turn::kFullOutputBytes) {
      active_ = true;  // go_on() serves the rest of the line
      return {static_cast<size_t>(keys.data() - in.data()), Turn::kFull};
    }
    serve_key(key.bytes, out);
    keys = rest;
  }
  out.append("END\r\n");
  return {line_bytes};
}

void TextGet::begin_long(TextOp op) {
  NVCACHE_ASSERT_SLOW(!active_);
  active_ = true;
  broken_ = false;
  op_ = op;
  expires_s_ = 0;
}

Turn TextGet::go_on(std::string_view in, Output& out) {
  NVCACHE_ASSERT_SLOW(active_);
  size_t at = 0;
  for (;;) {
    const StreamedKey next = next_streamed_key(in.substr(at));
    const bool too_long = next.key.fault == KeyFault::kTooLong;
    if (too_long && !broken_) {
      out.append(kBadFormat);
      out.append("\r\n");
      broken_ = true;
    }
    if (!next.complete) {
      if (too_long) return {in.size(), Turn::kGoOn};
      at += next.used;
      return {at, Turn::kMore, in.size() - at + 1};
    }
    if (!broken_ && next.key.good()) serve_key(next.key.bytes, out);
    at += next.used;
    if (next.last) {
      active_ = false;
      if (!broken_) out.append("END\r\n");
      return {at};
    }
    if (out.size() >= Turn::kFullOutputBytes) return {at, Turn::kFull};
  }
}

void TextGet::serve_key(std::string_view key, Output& out) {
  Found found = client_.fetch(key);
  if (op_ == TextOp::kGat || op_ == TextOp::kGats) {
    // A medium that failed is a miss here: the answer has no place for an error.
    const bool touched = found && client_.items().touch(key, expires_s_) == ItemStatus::kOk;
    client_.count_touch(touched);
    if (!touched) return;
  }
  if (!found) return;
  out.append("VALUE ");
  out.append(key);
  out.append(' ');
  out.append_number(found.item.meta.flags);
  out.append(' ');
  out.append_number(found.value.size());
  if (op_ == TextOp::kGets || op_ == TextOp::kGats) {
    out.append(' ');
    out.append_number(client_.settings().cas_enabled ? found.item.meta.cas : 0);
  }
  out.append("\r\n");
  out.append_value(std::move(found.item.pin), found.value);
  out.append("\r\n");
}

}  // namespace nvcache::server
