#include "load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>

#include "base/errno_status.h"
#include "base/text.h"
#include "spec/spec.h"

namespace nvcache::bench {
namespace {

constexpr size_t kReceiveBytes = size_t{1} << 20;
constexpr int kSilenceMs = 30'000;
constexpr std::string_view kEnd = "END\r\n";
constexpr std::string_view kStored = "STORED\r\n";

Status failed(const char* what) { return errno_status(errno, what); }

}  // namespace

StatusOr<Load> Load::connect(uint16_t port, const LoadOptions& options, uint64_t seed) {
  Load load(options, seed);
  load.value_.assign(options.value_bytes, 'x');
  for (uint32_t i = 0; i < options.connections; ++i) {
    Connection& connection = load.connections_.emplace_back();
    connection.received.resize(kReceiveBytes + options.value_bytes);
    connection.socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection.socket < 0) return failed("socket");
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(connection.socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 &&
        errno != EINPROGRESS) {
      return failed("connect");
    }
  }
  return load;
}

Load::~Load() {
  for (const Connection& connection : connections_) {
    if (connection.socket >= 0) close(connection.socket);
  }
}

StatusOr<LoadResult> Load::fill() {
  uint64_t next = 0;
  return exchange([&](Connection& connection) {
    if (next == options_.keys) return false;
    add_request(connection, next++, true);
    return true;
  });
}

StatusOr<LoadResult> Load::run(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const auto bound = static_cast<uint64_t>(options_.set_share * 0x1p32);
  uint64_t until_look = 1;  // at least one request
  bool over = false;
  return exchange([&](Connection& connection) {
    if (until_look-- == 0) {
      over = std::chrono::steady_clock::now() >= end;
      until_look = 64;
    }
    if (over) return false;
    const uint64_t key = random_.below(options_.keys);
    add_request(connection, key, (random_() >> 32) < bound);
    return true;
  });
}

// Keeps `depth` requests in flight on each connection, and refills when half are answered. Ends
// when `more` has none left and all are answered.
template <typename More>
StatusOr<LoadResult> Load::exchange(More&& more) {
  LoadResult result;
  std::vector<pollfd> polled(connections_.size());
  bool finished = false;
  for (;;) {
    size_t under_way = 0;
    for (size_t i = 0; i < connections_.size(); ++i) {
      Connection& each = connections_[i];
      if (each.expected.size() - each.first <= options_.depth / 2) {
        each.expected.erase(each.expected.begin(),
                            each.expected.begin() + static_cast<ptrdiff_t>(each.first));
        each.first = 0;
        while (!finished && each.expected.size() < options_.depth) finished = !more(each);
      }
      under_way += each.expected.size() - each.first;
      if (Status status = send_some(each); !status.ok()) return status;
      polled[i] = {each.socket, POLLIN, 0};
      if (each.sent < each.to_send.size()) polled[i].events |= POLLOUT;
    }
    if (under_way == 0) return result;
    const int ready = poll(polled.data(), polled.size(), kSilenceMs);
    if (ready < 0 && errno != EINTR) return failed("poll");
    if (ready == 0) return deadline_exceeded_error("the server does not answer");
    for (size_t i = 0; i < connections_.size(); ++i) {
      if ((polled[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      if (Status status = receive_some(connections_[i], &result); !status.ok()) return status;
    }
  }
}

void Load::add_request(Connection& connection, uint64_t key, bool set) {
  char name[24];
  const int name_bytes =
      std::snprintf(name, sizeof name, "k%09llu", static_cast<unsigned long long>(key));
  connection.expected.push_back(key << 1 | (set ? 1 : 0));
  std::string& out = connection.to_send;
  if (!set) {
    out.append("get ").append(name, static_cast<size_t>(name_bytes)).append("\r\n");
    return;
  }
  out.append("set ").append(name, static_cast<size_t>(name_bytes));
  out.append(" 0 0 ").append(std::to_string(options_.value_bytes)).append("\r\n");
  std::memcpy(value_.data(), name, std::min(value_.size(), static_cast<size_t>(name_bytes)));
  out.append(value_).append("\r\n");
}

Status Load::send_some(Connection& connection) {
  while (connection.sent < connection.to_send.size()) {
    const ssize_t n = send(connection.socket, connection.to_send.data() + connection.sent,
                           connection.to_send.size() - connection.sent, MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR ? ok_status() : failed("send");
    connection.sent += static_cast<size_t>(n);
  }
  connection.to_send.clear();
  connection.sent = 0;
  return ok_status();
}

Status Load::receive_some(Connection& connection, LoadResult* result) {
  if (connection.begin > 0) {
    std::memmove(connection.received.data(), connection.received.data() + connection.begin,
                 connection.end - connection.begin);
    connection.end -= connection.begin;
    connection.begin = 0;
  }
  const ssize_t n = recv(connection.socket, connection.received.data() + connection.end,
                         connection.received.size() - connection.end, 0);
  if (n == 0) return unavailable_error("the server closed the connection");
  if (n < 0) return errno == EAGAIN || errno == EINTR ? ok_status() : failed("recv");
  connection.end += static_cast<size_t>(n);
  while (connection.first < connection.expected.size()) {
    const StatusOr<bool> taken = take_answer(connection, result);
    if (!taken.ok()) return taken.status();
    if (!*taken) break;
  }
  return ok_status();
}

StatusOr<bool> Load::take_answer(Connection& connection, LoadResult* result) {
  const std::string_view all(connection.received.data() + connection.begin,
                             connection.end - connection.begin);
  const size_t line_end = all.find('\n');
  if (line_end == std::string_view::npos) return false;
  const std::string_view line = all.substr(0, line_end + 1);
  const uint64_t request = connection.expected[connection.first];
  size_t size_bytes = line.size();
  if ((request & 1) != 0) {
    if (line != kStored) return invalid_argument("unexpected answer to a set: {}", shown(line));
    ++result->sets;
  } else if (line == kEnd) {
    ++result->gets;
  } else if (line.starts_with("VALUE ")) {
    size_bytes += options_.value_bytes + 2 + kEnd.size();
    if (all.size() < size_bytes) return false;
    char name[24];
    std::snprintf(name, sizeof name, "k%09llu", static_cast<unsigned long long>(request >> 1));
    const std::string_view value = all.substr(line.size(), options_.value_bytes);
    if (value.substr(0, 10) != std::string_view(name).substr(0, value.size()) ||
        !all.substr(0, size_bytes).ends_with(kEnd)) {
      ++result->wrong;
    }
    ++result->gets;
    ++result->hits;
  } else {
    return invalid_argument("unexpected answer to a get: {}", shown(line));
  }
  connection.begin += size_bytes;
  ++connection.first;
  return true;
}

}  // namespace nvcache::bench
