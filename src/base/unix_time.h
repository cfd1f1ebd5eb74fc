// Unix time that no step of the wall clock moves: the wall clock's reading when the process first
// asks, plus the time since then, while the machine was suspended included. An administrator or NTP
// may set the clock; items must neither expire by that nor come back.
#pragma once

#include <atomic>
#include <cstdint>

namespace nvcache {

// Thread-safe.
class SteadyUnixClock {
 public:
  using ReadNs = int64_t (*)();

  // Reads both clocks once.
  SteadyUnixClock(ReadNs wall_ns, ReadNs steady_ns)
      : steady_ns_(steady_ns), offset_ns_(wall_ns() - steady_ns()) {}

  // Whole seconds since 1970.
  uint32_t now_s() const {
    const int64_t offset_ns = offset_ns_.load(std::memory_order_relaxed);
    return static_cast<uint32_t>((steady_ns_() + offset_ns) / 1'000'000'000);
  }
  // Goes ahead of the wall clock, if it must, so that it is at least this time from now on.
  void not_before(uint32_t unix_s);

 private:
  const ReadNs steady_ns_;
  std::atomic<int64_t> offset_ns_;
};

// The time of the clock that the whole process shares. Costs some nanoseconds. Thread-safe.
uint32_t steady_unix_s();
// SteadyUnixClock::not_before() of that clock: what a store saw expire stays expired, though the
// wall clock is set to an earlier time between two processes.
void steady_unix_s_not_before(uint32_t unix_s);

// The time of the wall clock.
uint32_t wall_unix_s();

}  // namespace nvcache
