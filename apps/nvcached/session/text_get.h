// A get of the text protocol (get, gets, gat, gats): one line, any number of keys. It takes more
// than one turn if much output is pending, or if the line is longer than others may be: then its
// keys are served as they arrive. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/nvcached/protocol/text_protocol.h"
#include "apps/nvcached/session/client.h"

namespace nvcache::server {

class TextGet {
 public:
  static bool serves(TextOp op) {
    return op == TextOp::kGet || op == TextOp::kGets || op == TextOp::kGat || op == TextOp::kGats;
  }

  // `client` must outlive it.
  explicit TextGet(Client& client) : client_(client) {}

  // Of a line that is there as a whole: the first `line_bytes` of `in`.
  Turn begin(const TextRequest& request, size_t line_bytes, std::string_view in, Output& out);
  // Of a line that is still arriving. Only get and gets may be so long. go_on() serves its keys.
  void begin_long(TextOp op);
  // The next turn of one that is under way.
  Turn go_on(std::string_view in, Output& out);

  bool is_under_way() const { return active_; }

 private:
  void serve_key(std::string_view key, Output& out);

  Client& client_;
  bool active_ = false;
  bool broken_ = false;  // answered with an error; skips to the end of the line
  TextOp op_ = TextOp::kGet;
  uint32_t expires_s_ = 0;
};

}  // namespace nvcache::server
