// The meta commands of a text client: mg ms md ma me mn. Keeps nothing between two of them.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/nvcached/protocol/meta_protocol.h"
#include "apps/nvcached/session/client.h"

namespace nvcache::server {

class MetaSession {
 public:
  // `client` must outlive it.
  explicit MetaSession(Client& client) : client_(client), items_(client.items()) {}

  // Serves the request whose line is `line`, the first `line_bytes` of `in` with its end.
  Turn turn(std::string_view line, size_t line_bytes, std::string_view in, Output& out);

 private:
  void get(const MetaRequest& request, std::string_view key, Output& out);
  void append_found(const MetaRequest& request, const MetaFlag& flag, const Found& found,
                    const ItemHints::Hint& before, uint32_t expires_s, Output& out) const;
  void set(const MetaRequest& request, std::string_view key, std::string_view value, Output& out);
  void erase(const MetaRequest& request, std::string_view key, Output& out);
  void arithmetic(const MetaRequest& request, std::string_view key, Output& out);
  void debug(const MetaRequest& request, std::string_view key, Output& out);

  Client& client_;
  Items& items_;
};

}  // namespace nvcache::server
