// A session over a store in memory. It gets text as it would from a connection.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/nvcached/service_fixture.h"
#include "apps/nvcached/session/session.h"

namespace nvcache::server {

class SessionFixture : public ServiceFixture {
 public:
  using ServiceFixture::ServiceFixture;

  // The answers to a new connection that sends this.
  std::string ask(std::string_view request) { return ask_in_parts({&request, 1}); }

  // The same, received in these parts. If the session closes, they end with <closed>.
  std::string ask_in_parts(std::span<const std::string_view> parts) {
    Session session(service, counters);
    return converse(parts, [&](std::string_view in, Output& out) { return session.turn(in, out); });
  }
};

}  // namespace nvcache::server
