// One client's conversation: received bytes in, answers out. A session knows no sockets: the owner
// of the bytes calls turn() until it wants more of them. It serves requests in place, in the
// receive buffer, and keeps nothing of a partial request except what must be skipped.
//
// The first byte tells the protocol, for good. Each protocol has a session of its own, made at that
// byte, which has turn() alone for an interface. It is called directly: a virtual call for each
// request would say no more.
// Not thread-safe.
#pragma once

#include <string_view>
#include <variant>

#include "apps/nvcached/session/binary_session.h"
#include "apps/nvcached/session/client.h"
#include "apps/nvcached/session/text_session.h"
#include "apps/nvcached/session/turn.h"

namespace nvcache::server {

class Session {
 public:
  // `name` identifies the client in the log.
  Session(Service& service, Counters& counters, int name = 0) : client_(service, counters, name) {}

  // Serves at most one request. `in` starts where the last turn's `used` ended.
  Turn turn(std::string_view in, Output& out);

  void copy_pinned(Output& out) { client_.copy_pinned(out); }

  // After kWatch; else null.
  WatchLog::Watcher* watcher() const;

 private:
  // False if the client may not speak the protocol of a request that begins so.
  bool choose(char first_byte);
  Turn protocol_turn(std::string_view in, Output& out);
  Turn timed_turn(std::string_view in, Output& out);

  Client client_;
  std::variant<std::monostate, TextSession, BinarySession> protocol_;
};

}  // namespace nvcache::server
