// The server: sockets that listen, worker threads that serve, a metrics port. libevent
// waits for the sockets: it is small, packaged everywhere, portable, and what memcached's
// own threads wait with; io_uring would buy little here, where a pipelined batch costs one
// read and one write.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/nvcached/service.h"

namespace nvcache::server {

class Server {
 public:
  // Listens and serves when it returns. `service` must live longer.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Server>> start(Service& service);
  virtual ~Server() = default;  // as stop()

  // No new connections; the old ones are closed after the request they are at.
  virtual void stop() = 0;

  // Where it listens, e.g. "tcp:127.0.0.1:11211", "udp:...", "unix:/path"; the metrics
  // port as "metrics:...".
  virtual const std::vector<std::string>& addresses() const = 0;
  virtual int tcp_port() const = 0;  // 0: none
  virtual int udp_port() const = 0;
  virtual int metrics_port() const = 0;
};

}  // namespace nvcache::server
