#include "apps/nvcached/net/udp.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "apps/nvcached/session/output.h"
#include "apps/nvcached/session/turn.h"

namespace nvcache::server {
namespace {

constexpr size_t kFrameBytes = 8;
constexpr size_t kPayloadBytes = 1400 - kFrameBytes;
constexpr int kDatagramsPerEvent = 32;
constexpr size_t kMaxDatagramBytes = 65536;

void put_u16(char* to, size_t number) {
  to[0] = static_cast<char>(number >> 8);
  to[1] = static_cast<char>(number);
}

// Whether the first thing in a datagram was no request.
bool is_refusal(std::string_view answer) {
  return answer.starts_with("ERROR") || answer.starts_with("CLIENT_ERROR");
}

}  // namespace

UdpEndpoint::~UdpEndpoint() {
  if (event_ != nullptr) event_free(event_);
  close(fd_);
}

bool UdpEndpoint::start(event_base* base) {
  event_ = event_new(base, fd_, EV_READ | EV_PERSIST, on_readable, this);
  return event_ != nullptr && event_add(event_, nullptr) == 0;
}

void UdpEndpoint::on_readable(int, short, void* self) try {
  for (int i = 0; i < kDatagramsPerEvent; ++i) {
    if (!static_cast<UdpEndpoint*>(self)->serve_one()) break;
  }
} catch (const std::bad_alloc&) {  // the datagram is lost
}

bool UdpEndpoint::serve_one() {
  static thread_local std::array<char, kMaxDatagramBytes> datagram;
  sockaddr_storage from = {};
  socklen_t from_bytes = sizeof from;
  const ssize_t got = recvfrom(fd_, datagram.data(), kMaxDatagramBytes, 0,
                               reinterpret_cast<sockaddr*>(&from), &from_bytes);
  if (got < 0) return false;
  counters_.add(Count::kBytesRead, static_cast<uint64_t>(got));
  // A request that spans several datagrams (bytes 4 and 5) is not served.
  if (static_cast<size_t>(got) <= kFrameBytes || datagram[4] != 0 || datagram[5] != 1) return true;

  Session session(service_, counters_, fd_);
  Output out;
  std::string_view rest(datagram.data() + kFrameBytes, static_cast<size_t>(got) - kFrameBytes);
  for (;;) {
    const Turn turn = session.turn(rest, out);
    // A dump wants many turns: too much for one datagram from an address that may be forged.
    if (turn.next == Turn::kGoOn && turn.used == 0) return true;
    if (turn.next == Turn::kWatch) return true;
    rest = rest.substr(turn.used);
    if (turn.next != Turn::kGoOn || out.size() >= Turn::kFullOutputBytes) break;
  }
  std::string text = out.text();
  if (is_refusal(text)) return true;
  if (text.size() > kMostAnswerBytes) text = "SERVER_ERROR answer too large for UDP\r\n";
  const size_t count = (text.size() + kPayloadBytes - 1) / kPayloadBytes;
  for (size_t i = 0; i < count; ++i) {
    std::string frame(kFrameBytes, '\0');
    frame[0] = datagram[0];
    frame[1] = datagram[1];
    put_u16(&frame[2], i);
    put_u16(&frame[4], count);
    frame += text.substr(i * kPayloadBytes, kPayloadBytes);
    const ssize_t sent = sendto(fd_, frame.data(), frame.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&from), from_bytes);
    if (sent > 0) counters_.add(Count::kBytesWritten, static_cast<uint64_t>(sent));
  }
  return true;
}

}  // namespace nvcache::server
