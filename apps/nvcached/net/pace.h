// How fast a client lets go of what the server holds for it: of requests whose rest it sends, and
// of answers that it takes. Decides who goes when --buffer-memory is full.
//
// One number compares all clients: what their buffers still cost if they go on at their pace, in
// bytes times seconds. N bytes at R bytes a second stay for N / R seconds. So one that sends half a
// request and stops, one that takes nothing of its answer and one that takes a byte a second cost
// most, and a new one less than one that has stood still for long.
//
// The pace is an average over the last seconds, so that a client whose machine is busy for a moment
// keeps its place. A client has taken the bytes that its system has acknowledged: a slow reader
// moves long before the socket has room again. Caller-locked.
#pragma once

#include <cstdint>
#include <utility>

namespace nvcache::server {

class Pace {
 public:
  // Bytes came in, or were taken.
  void move(uint64_t bytes) { moved_bytes_ += bytes; }
  // Called once a second.
  void end_second() {
    still_seconds_ = moved_bytes_ > 0 ? 0 : still_seconds_ + 1;
    bytes_per_s_ = bytes_per_s() * (1 - 1 / kSeconds);
    moved_bytes_ = 0;
  }

  // The cost of buffers, in bytes times seconds; 0 without any.
  double cost(uint64_t held_bytes) const {
    return static_cast<double>(held_bytes) * seconds_for(held_bytes);
  }
  // Until it has let go of these bytes.
  double seconds_for(uint64_t held_bytes) const {
    return static_cast<double>(held_bytes) / (bytes_per_s() + kLeastBytesPerS);
  }
  // It has moved nothing for two whole seconds.
  bool stands_still() const { return still_seconds_ >= kStillSeconds; }

  // Over which the pace is an average: what moved that long ago counts 1/e.
  static constexpr double kSeconds = 8;

 private:
  static constexpr double kLeastBytesPerS = 1;
  static constexpr uint32_t kStillSeconds = 2;

  double bytes_per_s() const { return bytes_per_s_ + static_cast<double>(moved_bytes_) / kSeconds; }

  double bytes_per_s_ = 0;    // without what moved in this second
  uint64_t moved_bytes_ = 0;  // in this second
  uint32_t still_seconds_ = 0;
};

}  // namespace nvcache::server
