#include "apps/nvcache/http_get.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "apps/command/interrupt.h"
#include "base/descriptors.h"
#include "base/text.h"

namespace nvcache {
namespace {

constexpr size_t kMostAnswerBytes = 16 << 20;
constexpr time_t kMostSeconds = 5;  // that the host may be silent

struct Address {
  std::string credentials;  // USER:PASSWORD
  std::string host;
  std::string port = "80";
  std::string path = "/";
};

StatusOr<Address> parse_address(std::string_view url) {
  Address address;
  std::string_view rest = url;
  rest.remove_prefix(kHttpScheme.size());
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    address.path = rest.substr(slash);
    rest = rest.substr(0, slash);
  }
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    address.credentials = rest.substr(0, at);
    rest = rest.substr(at + 1);
  }
  const size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;  // of an IPv6 address
  const size_t colon = bracket == std::string_view::npos ? bracket : rest.find(':', bracket);
  if (colon != std::string_view::npos) {
    address.port = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  address.host = rest;
  const bool digits = address.port.find_first_not_of("0123456789") == std::string::npos;
  const bool clean = url.find_first_of(" \r\n") == std::string_view::npos;
  if (address.host.empty() || address.port.empty() || !digits || !clean) {
    return invalid_argument("'{}'; allowed: http://[USER:PASSWORD@]HOST[:PORT][/PATH]", url);
  }
  return address;
}

std::string base64_of(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string coded;
  for (size_t i = 0; i < text.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (i + j < text.size() ? static_cast<uint8_t>(text[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) {
      coded.push_back(i + j <= text.size() ? kDigits[bits >> (18 - 6 * j) & 63] : '=');
    }
  }
  return coded;
}

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

// Sends the request and receives until the host closes. Returns 0 or an error number.
int exchange(const addrinfo& to, std::string_view request, std::string* answer) {
  const Socket socket(make_socket(to.ai_family, to.ai_socktype, to.ai_protocol));
  if (socket.get() < 0) return errno;
  const timeval limit = {.tv_sec = kMostSeconds, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);  // of connect(), too
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) != 0) {
    return errno == EINPROGRESS ? ETIMEDOUT : errno;
  }
  while (!request.empty()) {
    const ssize_t sent = ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN ? ETIMEDOUT : errno;
    request.remove_prefix(static_cast<size_t>(sent));
  }
  char part[16384];
  while (answer->size() < kMostAnswerBytes) {
    if (interrupted()) return EINTR;
    const ssize_t got = ::recv(socket.get(), part, sizeof part, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? ETIMEDOUT : errno;
    if (got == 0) return 0;
    answer->append(part, static_cast<size_t>(got));
  }
  return EFBIG;
}

StatusOr<std::string> ask(const Address& address, std::string_view request) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (error != 0) return unavailable_error(::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  int last = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::string answer;
    last = exchange(*each, request, &answer);
    if (last == 0) return answer;
  }
  return unavailable_error(std::strerror(last));
}

}  // namespace

StatusOr<std::string> http_get(std::string_view url) {
  const StatusOr<Address> address = parse_address(url);
  if (!address.ok()) return address.status();
  // 1.0: the answer comes in one piece, and the host closes behind it.
  std::string request = fmt::format("GET {} HTTP/1.0\r\nHost: {}:{}\r\nConnection: close\r\n",
                                    address->path, address->host, address->port);
  if (!address->credentials.empty()) {
    request += fmt::format("Authorization: Basic {}\r\n", base64_of(address->credentials));
  }
  request += "\r\n";
  StatusOr<std::string> answer = ask(*address, request);
  if (!answer.ok()) return answer;
  constexpr std::string_view kEndOfHead = "\r\n\r\n";
  const std::string_view first_line = std::string_view(*answer).substr(0, answer->find("\r\n"));
  const std::string_view code = split_once(first_line, ' ').second;
  const size_t head = answer->find(kEndOfHead);
  if (!first_line.starts_with("HTTP/1.") || head == std::string::npos) {
    return unavailable_error("the answer is not HTTP");
  }
  if (!code.starts_with("200")) {
    return failed_precondition_error(fmt::format("the answer is {}", code));
  }
  return answer->substr(head + kEndOfHead.size());
}

}  // namespace nvcache
