// memcached's UDP: a request in one datagram behind an 8-byte frame header, its answer in
// as many as it needs. Off unless asked for: an address may be forged, and an answer is
// larger than its question. Used by one thread.
#pragma once

#include <event2/event.h>

#include "apps/nvcached/session.h"

namespace nvcache::server {

class UdpEndpoint {
 public:
  // Takes the socket over.
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
