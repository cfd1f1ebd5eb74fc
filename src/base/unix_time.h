// Unix time that no step of the wall clock moves: the wall clock's reading when the process first
// asks, plus the time since then. An administrator or NTP may set the clock; items must neither
// expire by that nor come back.
#pragma once

#include <cstdint>

namespace nvcache {

// Immutable: thread-safe.
class SteadyUnixClock {
 public:
  using ReadNs = int64_t (*)();

  // Reads both clocks once.
  SteadyUnixClock(ReadNs wall_ns, ReadNs steady_ns)
      : steady_ns_(steady_ns), offset_ns_(wall_ns() - steady_ns()) {}

  // Whole seconds since 1970.
  uint32_t now_s() const {
    return static_cast<uint32_t>((steady_ns_() + offset_ns_) / 1'000'000'000);
  }

 private:
  const ReadNs steady_ns_;
  const int64_t offset_ns_;
};

// The time of the clock that the whole process shares. It may lag by some milliseconds. Costs a few
// nanoseconds. Thread-safe.
uint32_t steady_unix_s();

}  // namespace nvcache
