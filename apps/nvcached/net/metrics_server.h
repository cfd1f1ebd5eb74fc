// The metrics port: Prometheus' text over HTTP, on a loop of the server. libevent speaks HTTP. At
// most kMostConnections are open; further ones wait in the system's queue until one ends. Those
// that say nothing for kIdleSeconds are closed. So no client can take all descriptors of the
// server. libevent 2.1 has no such limit, and does not tell when a connection ends: a reference to
// each is held until sweep() sees that libevent is done with it.
//
// Used by the loop's thread; start() and the destructor while the loop does not run.
#pragma once

#include <event2/event.h>
#include <event2/http.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/nvcached/net/sockets.h"
#include "apps/nvcached/service/service.h"
#include "nvcache/status.h"

struct bufferevent;

namespace nvcache::server {

class MetricsServer {
 public:
  static constexpr size_t kMostConnections = 32;
  static constexpr int kIdleSeconds = 10;

  explicit MetricsServer(Service& service) : service_(service) {}
  ~MetricsServer();  // closes its sockets
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // Takes the sockets, which are bound.
  [[nodiscard]] Status start(event_base* base, const std::vector<Listening>& sockets);
  // Called once a second: forgets connections that have ended.
  void sweep();
  int port() const { return port_; }
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  static void on_request(evhttp_request* request, void* self);
  void answer(evhttp_request* request);
  static bufferevent* on_connection(event_base* base, void* self);
  void listen(bool on);

  Service& service_;
  evhttp* http_ = nullptr;
  std::vector<evhttp_bound_socket*> sockets_;
  std::vector<std::string> addresses_;
  int port_ = 0;
  std::vector<bufferevent*> connections_;  // a reference to each
};

}  // namespace nvcache::server
