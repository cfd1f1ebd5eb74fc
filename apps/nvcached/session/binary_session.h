// A client of the binary protocol: a frame a request. Keeps nothing between two of them.
// Not thread-safe.
#pragma once

#include <string_view>

#include "apps/nvcached/protocol/binary_protocol.h"
#include "apps/nvcached/session/client.h"

namespace nvcache::server {

class BinarySession {
 public:
  // `client` must outlive it.
  explicit BinarySession(Client& client) : client_(client), items_(client.items()) {}

  // See Session::turn(). There is at least one byte.
  Turn turn(std::string_view in, Output& out);

 private:
  Turn serve(const BinaryHeader& header, std::string_view body, Output& out);
  Turn refuse_too_large(const BinaryHeader& header, std::string_view in);
  bool may_ask(BinaryOp op) const;
  void authenticate(const BinaryHeader& header, std::string_view mechanism,
                    std::string_view message, Output& out);
  void get(const BinaryHeader& header, std::string_view extras, std::string_view key, Output& out);
  void store(const BinaryHeader& header, std::string_view extras, std::string_view key,
             std::string_view value, Output& out);
  void erase(const BinaryHeader& header, std::string_view key, Output& out);
  void arithmetic(const BinaryHeader& header, std::string_view extras, std::string_view key,
                  Output& out);
  void stats(const BinaryHeader& header, std::string_view group, Output& out);

  Client& client_;
  Items& items_;
};

}  // namespace nvcache::server
