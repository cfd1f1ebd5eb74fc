#include "apps/nvcached/net/sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "apps/nvcached/protocol/words.h"
#include "base/descriptors.h"
#include "base/errno_status.h"
#include "base/text.h"
#include "fmt/ranges.h"

namespace nvcache::server {
namespace {

struct HostPort {
  std::string host;  // empty: all
  int port;
  bool tls = true;
};

StatusOr<HostPort> parse_host(std::string_view text, int port) {
  constexpr std::string_view kNoTls = "notls:";
  const bool tls = !text.starts_with(kNoTls);
  if (!tls) text.remove_prefix(kNoTls.size());
  HostPort result{std::string(text), port, tls};
  size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return invalid_argument("-l {}: the ']' is missing", text);
    result.host = text.substr(1, close - 1);
    colon = close + 1 < text.size() ? close + 1 : std::string_view::npos;
  } else if (colon != std::string_view::npos && text.find(':') == colon) {
    result.host = text.substr(0, colon);
  } else {
    colon = std::string_view::npos;  // no port, or a bare IPv6 address
  }
  if (colon != std::string_view::npos) {
    uint32_t number = 0;
    if (!parse_u32(text.substr(colon + 1), number) || number > 65535) {
      return invalid_argument("-l {}: the port is not a number; allowed: 0 to 65535", text);
    }
    result.port = static_cast<int>(number);
  }
  if (result.host == "*") result.host.clear();
  return result;
}

void set_option(int fd, int level, int option, int value = 1) {
  setsockopt(fd, level, option, &value, sizeof value);
}

// So that no other socket can be bound there until this one listens: one that was bound with
// SO_REUSEADDR is alone only while it listens, and without it, it cannot be bound where connections
// of an earlier server have just ended.
bool claim(int fd, const addrinfo& info, int type) {
  if (bind(fd, info.ai_addr, info.ai_addrlen) == 0) return true;
  if (type != SOCK_STREAM || errno != EADDRINUSE) return false;
  set_option(fd, SOL_SOCKET, SO_REUSEADDR);
  if (bind(fd, info.ai_addr, info.ai_addrlen) != 0 || listen(fd, 1) != 0) return false;
  // Bound, and not listening: what others then ask for is compared with what this socket allows.
  shutdown(fd, SHUT_RD);
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 0);
  return true;
}

// Valid as long as the list that the address is in.
std::string_view bytes_of(const addrinfo& info) {
  return {reinterpret_cast<const char*>(info.ai_addr), info.ai_addrlen};
}

// Removes the socket of a server that was killed. One that is stopped, or whose queue is full, is
// not dead, and is not waited for.
void remove_dead_socket(const std::string& path, const sockaddr_un& address) {
  struct stat there = {};
  if (lstat(path.c_str(), &there) != 0 || !S_ISSOCK(there.st_mode)) return;
  const int probe = make_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (probe < 0) return;
  const bool dead =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  close(probe);
  struct stat still = {};
  if (dead && lstat(path.c_str(), &still) == 0 && still.st_ino == there.st_ino) {
    unlink(path.c_str());
  }
}

// -1 if the machine cannot use this address at all, such as IPv6 where there is none.
int bind_one(const addrinfo& info, int type) {
  const int fd = make_socket(info.ai_family, type | SOCK_NONBLOCK, info.ai_protocol);
  if (fd < 0) return -1;
  if (info.ai_family == AF_INET6) set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY);
  if (claim(fd, info, type)) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

}  // namespace

std::string hosts_alone(std::string_view hosts) {
  std::vector<std::string> alone;
  while (!hosts.empty()) {
    const auto [first, rest] = split_once(hosts, ',');
    hosts = rest;
    const auto host = parse_host(first, 0);
    std::string name = !host.ok() || host->host.empty() ? "*" : host->host;
    if (name.find(':') != std::string::npos) name = fmt::format("[{}]", name);
    if (std::find(alone.begin(), alone.end(), name) == alone.end()) alone.push_back(name);
  }
  return fmt::format("{}", fmt::join(alone, ","));
}

std::string name_of(const sockaddr_storage& address, std::string_view kind) {
  if (address.ss_family == AF_UNIX) return "unix";
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  const socklen_t bytes =
      address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), bytes, host, sizeof host, port,
                  sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return std::string(kind);
  }
  return address.ss_family == AF_INET6 ? fmt::format("{}6:[{}]:{}", kind, host, port)
                                       : fmt::format("{}:{}:{}", kind, host, port);
}

SocketFile::SocketFile(std::string path) : path_(std::move(path)) {
  if (lstat(path_.c_str(), &made_) != 0) made_ = {};
}

SocketFile::~SocketFile() {
  struct stat there = {};
  if (lstat(path_.c_str(), &there) == 0 && there.st_ino == made_.st_ino &&
      there.st_dev == made_.st_dev) {
    unlink(path_.c_str());
  }
}

StatusOr<std::vector<Listening>> bind_to(std::string_view hosts, int port, int type) {
  std::vector<Listening> all;
  std::set<std::string_view> known;  // addresses; the lists of names live as long
  std::vector<std::unique_ptr<addrinfo, void (*)(addrinfo*)>> lists;
  const auto give_up = [&](Status status) {
    for (const Listening& one : all) close(one.fd);
    return status;
  };
  do {
    const auto [first, rest] = split_once(hosts, ',');
    hosts = rest;
    const auto host = parse_host(first, port);
    if (!host.ok()) return give_up(host.status());
    addrinfo hints = {};
    hints.ai_flags = AI_PASSIVE;
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = type;
    addrinfo* found = nullptr;
    const int failed = getaddrinfo(host->host.empty() ? nullptr : host->host.c_str(),
                                   std::to_string(host->port).c_str(), &hints, &found);
    if (failed != 0) {
      return give_up(invalid_argument("cannot listen on {}: {}", first, gai_strerror(failed)));
    }
    lists.emplace_back(found, freeaddrinfo);
    const size_t before = all.size();
    int error = 0;
    for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
      if (host->port != 0 && !known.insert(bytes_of(*info)).second) continue;
      const int fd = bind_one(*info, type);
      if (fd < 0) {
        error = errno;
        if (error == EADDRINUSE) break;
        continue;
      }
      sockaddr_storage bound = {};
      socklen_t bytes = sizeof bound;
      getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &bytes);
      const int at =
          ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                            : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
      all.push_back({fd, at, name_of(bound, type == SOCK_STREAM ? "tcp" : "udp"), host->tls});
      if (host->port == 0) break;  // any free port: a second address would get a different port
    }
    if ((all.size() == before && error != 0) || error == EADDRINUSE) {
      return give_up(unavailable_error(fmt::format("cannot listen on {}port {}: {}",
                                                   first.empty() ? "" : fmt::format("{} ", first),
                                                   host->port, std::strerror(error))));
    }
  } while (!hosts.empty());
  return all;
}

StatusOr<Listening> listen_on_unix(const std::string& path, uint32_t mask, int backlog) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return invalid_argument("unix socket {}: longer than {} bytes", path,
                            sizeof address.sun_path - 1);
  }
  path.copy(address.sun_path, path.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const int fd = make_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno_status(errno, "unix socket");
  remove_dead_socket(path, address);
  const mode_t before = umask(static_cast<mode_t>(~mask & 0777));
  const bool good = bind(fd, generic, sizeof address) == 0 && listen(fd, backlog) == 0;
  const int error = errno;
  umask(before);
  if (!good) {
    close(fd);
    return unavailable_error(
        fmt::format("cannot listen on unix socket {}: {}", path, std::strerror(error)));
  }
  return Listening{fd, 0, "unix:" + path};
}

Status start_listening(const Listening& socket, int backlog) {
  // Its connections, once they end, keep no later server from the port.
  if (!socket.address.starts_with("unix:")) set_option(socket.fd, SOL_SOCKET, SO_REUSEADDR);
  if (listen(socket.fd, backlog) == 0) return ok_status();
  return unavailable_error(
      fmt::format("cannot listen on {}: {}", socket.address, std::strerror(errno)));
}

StatusOr<Sockets> bind_sockets(const Settings& settings) {
  Sockets sockets;
  const auto give_up = [&](Status status) {
    for (const auto* some : {&sockets.clients, &sockets.udp, &sockets.metrics}) {
      for (const Listening& one : *some) close(one.fd);
    }
    return status;
  };
  if (!settings.unix_socket.empty()) {
    auto one = listen_on_unix(settings.unix_socket, settings.unix_mask, settings.backlog);
    if (!one.ok()) return one.status();
    sockets.file = std::make_unique<SocketFile>(settings.unix_socket);
    sockets.clients.push_back(*std::move(one));
  } else if (settings.port != 0) {
    auto all = bind_to(settings.listen, std::max(settings.port, 0), SOCK_STREAM);
    if (!all.ok()) return all.status();
    sockets.clients = *std::move(all);
  }
  if (settings.udp_port != 0) {
    auto all = bind_to(settings.listen, std::max(settings.udp_port, 0), SOCK_DGRAM);
    if (!all.ok()) return give_up(all.status());
    sockets.udp = *std::move(all);
  }
  if (settings.metrics_port != 0) {
    // Without -l, metrics are for this machine alone.
    const std::string hosts = settings.listen.empty() ? "127.0.0.1" : hosts_alone(settings.listen);
    auto all = bind_to(hosts, std::max(settings.metrics_port, 0), SOCK_STREAM);
    if (!all.ok()) return give_up(all.status());
    sockets.metrics = *std::move(all);
  }
  return sockets;
}

}  // namespace nvcache::server
