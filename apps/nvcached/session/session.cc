#include "apps/nvcached/session/session.h"

#include <cstdint>

#include "apps/nvcached/protocol/binary_protocol.h"
#include "base/clock.h"

namespace nvcache::server {

bool Session::choose(char first_byte) {
  const bool binary = static_cast<uint8_t>(first_byte) == kBinaryRequest;
  const auto binding = client_.settings().binding;
  const bool locked_out = client_.service().needs_auth() && !client_.settings().sasl;
  if (binary && (locked_out || binding == Settings::Binding::kText)) return false;
  if (!binary && binding == Settings::Binding::kBinary) return false;
  if (binary) {
    protocol_.emplace<BinarySession>(client_);
  } else {
    protocol_.emplace<TextSession>(client_);
  }
  return true;
}

Turn Session::turn(std::string_view in, Output& out) {
  if (in.empty()) return {0, Turn::kMore, 1};
  if (client_.skips()) return client_.skip_turn(in, out);
  if (std::holds_alternative<std::monostate>(protocol_) && !choose(in[0])) {
    return {0, Turn::kClose};
  }
  if (client_.counters().times_next()) [[unlikely]]
    return timed_turn(in, out);
  return protocol_turn(in, out);
}

Turn Session::protocol_turn(std::string_view in, Output& out) {
  if (auto* const binary = std::get_if<BinarySession>(&protocol_)) return binary->turn(in, out);
  return std::get_if<TextSession>(&protocol_)->turn(in, out);
}

// From the whole request to its answer. Which kind it was, its counts tell. A request that is not
// there as a whole leaves the next one to be timed.
Turn Session::timed_turn(std::string_view in, Output& out) {
  Counters& counters = client_.counters();
  const uint64_t gets = counters.get(Count::kCmdGet);
  const uint64_t sets = counters.get(Count::kCmdSet);
  const uint64_t began_ns = system_clock().now_ns();
  const Turn turn = protocol_turn(in, out);
  const uint64_t took_ns = system_clock().now_ns() - began_ns;
  if (turn.next == Turn::kMore) return turn;
  counters.timed();
  if (counters.get(Count::kCmdSet) != sets) {
    counters.latencies(Timed::kSet).add(took_ns);
  } else if (counters.get(Count::kCmdGet) != gets) {
    counters.latencies(Timed::kGet).add(took_ns);
  }
  return turn;
}

WatchLog::Watcher* Session::watcher() const {
  const auto* const text = std::get_if<TextSession>(&protocol_);
  return text == nullptr ? nullptr : text->watcher();
}

}  // namespace nvcache::server
