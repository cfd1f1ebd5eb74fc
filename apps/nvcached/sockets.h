// Opens listening sockets, none of which blocks. The caller owns the descriptors. Thread-safe.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace nvcache::server {

struct Listening {
  int fd = -1;
  int port = 0;
  std::string address;  // "tcp:127.0.0.1:11211", "udp:...", "unix:/path"
  bool tls = true;      // with -Z: false for "notls:..."
};

// `hosts`: "host", "host:port", "[v6]:port" or "*", separated by commas; empty means all
// interfaces. "notls:" may come before each. Port 0 means any free port. `type` is SOCK_STREAM or
// SOCK_DGRAM.
[[nodiscard]] absl::StatusOr<std::vector<Listening>> listen_on(std::string_view hosts, int port,
                                                               int type, int backlog);
// Replaces an existing socket file if no server answers on it.
[[nodiscard]] absl::StatusOr<Listening> listen_on_unix(const std::string& path, uint32_t mask,
                                                       int backlog);

// The hosts without their ports, each of them once: for another service on the same addresses.
std::string hosts_alone(std::string_view hosts);

// "tcp:1.2.3.4:5", "tcp6:[::1]:5", "unix".
std::string name_of(const sockaddr_storage& address, std::string_view kind);

}  // namespace nvcache::server
