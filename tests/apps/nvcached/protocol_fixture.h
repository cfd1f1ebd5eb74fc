// The session of one protocol over a store in memory, without the sessions of the others.
#pragma once

#include <string>
#include <string_view>

#include "apps/nvcached/service_fixture.h"
#include "apps/nvcached/session/client.h"

namespace nvcache::server {

template <typename ProtocolSession>
class ProtocolFixture : public ServiceFixture {
 public:
  using ServiceFixture::ServiceFixture;

  // The answers to a new client that sends this. If it is closed, they end with <closed>.
  std::string ask(std::string_view requests) {
    Client client(service, counters, 0);
    ProtocolSession session(client);
    return converse({&requests, 1}, [&](std::string_view in, Output& out) -> Turn {
      if (in.empty()) return {0, Turn::kMore, 1};
      return client.skips() ? client.skip_turn(in, out) : session.turn(in, out);
    });
  }
};

}  // namespace nvcache::server
