// The metrics port: HTTP on a loop of its own, so that no answer keeps a client from being
// accepted. It answers before the server serves, too, and tells then how far the start is.
// status_pages.h makes its answers. libevent speaks HTTP. At most kMostConnections are open;
// further ones wait in the system's queue until one ends. Those that say nothing for kIdleSeconds
// are closed. So no client can take all descriptors of the server. libevent 2.1 has no such limit,
// and does not tell when a connection ends: a reference to each is held until sweep() sees that
// libevent is done with it.
//
// Thread-safe: tell() and serve(). It starts a thread of its own.
#pragma once

#include <event2/event.h>
#include <event2/http.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/nvcached/net/loop_thread.h"
#include "apps/nvcached/net/sockets.h"
#include "apps/nvcached/net/status_pages.h"
#include "apps/nvcached/service/service.h"
#include "base/mutex.h"
#include "nvcache/status_or.h"

struct bufferevent;

namespace nvcache::server {

class MetricsServer {
 public:
  static constexpr size_t kMostConnections = 32;
  static constexpr int kIdleSeconds = 10;

  // Listens on the sockets, which are bound, and takes them. Null if there are none.
  [[nodiscard]] static StatusOr<std::unique_ptr<MetricsServer>> start(
      const Settings& settings, const std::vector<Listening>& sockets);
  ~MetricsServer();  // closes its sockets
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // How far the start is.
  void tell(StartProgress progress);
  // The start is done. `service` must outlive this.
  void serve(Service& service);

  int port() const { return port_; }
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  explicit MetricsServer(bool needs_auth);

  Status listen_on(const std::vector<Listening>& sockets);
  static void on_request(evhttp_request* request, void* self);
  static void on_second(int fd, short what, void* self);
  static bufferevent* on_connection(event_base* base, void* self);
  void answer(evhttp_request* request);
  PageSource source();
  void sweep();
  void listen(bool on);

  LoopThread loop_{"nvcached http"};
  evhttp* http_ = nullptr;
  event* second_event_ = nullptr;
  std::vector<evhttp_bound_socket*> sockets_;
  std::vector<std::string> addresses_;
  int port_ = 0;
  std::vector<bufferevent*> connections_;  // a reference to each
  StatusHistory history_;
  Mutex mutex_;
  PageSource source_ NVCACHE_GUARDED_BY(mutex_);
};

}  // namespace nvcache::server
