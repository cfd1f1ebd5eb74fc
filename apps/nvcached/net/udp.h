// memcached over UDP: a request is one datagram with an 8-byte frame header; its answer takes as
// many datagrams as it needs, up to kMostAnswerBytes. Off by default: a sender's address can be
// forged, and an answer is larger than its request. One thread uses it.
//
// Nothing is answered to what is no request. An answer that reaches another server is no request
// there, so two servers never answer each other for ever.
#pragma once

#include <event2/event.h>

#include "apps/nvcached/session/session.h"

namespace nvcache::server {

class UdpEndpoint {
 public:
  static constexpr size_t kMostAnswerBytes = 64 << 10;

  // Owns the socket from now on.
  UdpEndpoint(Service& service, int fd)
      : service_(service), counters_(service.new_counters()), fd_(fd) {}
  ~UdpEndpoint();
  bool start(event_base* base);

 private:
  static void on_readable(int fd, short what, void* self);
  bool serve_one();

  Service& service_;
  Counters& counters_;
  const int fd_;
  event* event_ = nullptr;
};

}  // namespace nvcache::server
