// The server: listening sockets, worker threads, a metrics port. libevent waits for the sockets: it
// is small, portable, packaged everywhere, and memcached uses it too. io_uring would gain little,
// because a pipelined batch costs one read and one write.
//
// Caller-locked; it starts its own threads. Errors name the address or the option.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/nvcached/net/metrics_server.h"
#include "apps/nvcached/net/sockets.h"
#include "apps/nvcached/service/service.h"
#include "nvcache/status_or.h"

namespace nvcache::server {

class Server {
 public:
  // Listens on `sockets`, which it takes, and serves as soon as it returns. `service` must outlive
  // the server. `metrics`: the metrics port, where it was started before; else it is started with
  // the rest.
  [[nodiscard]] static StatusOr<std::unique_ptr<Server>> start(
      Service& service, Sockets sockets, std::unique_ptr<MetricsServer> metrics = nullptr);
  virtual ~Server() = default;  // calls stop()

  // Takes no new connections, and closes each old one after its current request.
  virtual void stop() = 0;

  // Where it listens: "tcp:127.0.0.1:11211", "udp:...", "unix:/path"; the metrics port is
  // "metrics:...".
  virtual const std::vector<std::string>& addresses() const = 0;
  virtual int tcp_port() const = 0;  // 0: none
  virtual int udp_port() const = 0;
  virtual int metrics_port() const = 0;
};

}  // namespace nvcache::server
