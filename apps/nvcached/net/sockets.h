// Opens listening sockets, none of which blocks. The caller owns the descriptors. Thread-safe, but
// for the umask.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nvcached/options/settings.h"
#include "nvcache/status_or.h"

namespace nvcache::server {

struct Listening {
  int fd = -1;
  int port = 0;
  std::string address;  // "tcp:127.0.0.1:11211", "udp:...", "unix:/path"
  bool tls = true;      // with -Z: false for "notls:..."
};

// `hosts`: "host", "host:port", "[v6]:port" or "*", separated by commas; empty means all
// interfaces. "notls:" may come before each. Port 0 means any free port. `type` is SOCK_STREAM or
// SOCK_DGRAM. Connections are refused until start_listening(), and the ports are this process's
// alone from now on. An address that is named twice is bound once.
[[nodiscard]] StatusOr<std::vector<Listening>> bind_to(std::string_view hosts, int port, int type);
[[nodiscard]] Status start_listening(const Listening& socket, int backlog);

// The file of a unix socket. It goes with this, unless another server has taken its name since.
class SocketFile {
 public:
  explicit SocketFile(std::string path);  // of a socket that was just bound
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

 private:
  const std::string path_;
  struct stat made_ = {};
};

// Replaces an existing socket file if no server has it. One that takes no more connections, because
// it is stopped or busy, has it, too.
[[nodiscard]] StatusOr<Listening> listen_on_unix(const std::string& path, uint32_t mask,
                                                 int backlog);

// All that a server listens on. Bound early, so that a port that others have is known before a long
// start; no client is served until the server is there. Clients of a unix socket wait until then:
// one that refuses them would be taken for a dead server's.
struct Sockets {
  std::unique_ptr<SocketFile> file;  // of a unix socket among `clients`
  std::vector<Listening> clients;
  std::vector<Listening> udp;
  std::vector<Listening> metrics;
};
[[nodiscard]] StatusOr<Sockets> bind_sockets(const Settings& settings);

// The hosts without their ports, each of them once: for another service on the same addresses.
std::string hosts_alone(std::string_view hosts);

// "tcp:1.2.3.4:5", "tcp6:[::1]:5", "unix".
std::string name_of(const sockaddr_storage& address, std::string_view kind);

}  // namespace nvcache::server
