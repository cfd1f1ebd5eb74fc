// Time as nvcache sees it. Nothing reads a clock that was not handed to it, so
// policies, media and calibration run the same under real and virtual time.
#pragma once

#include <cstdint>

namespace nvcache {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Nanoseconds since an arbitrary start; never goes back.
  virtual uint64_t now_ns() const = 0;

  // Returns once now_ns() >= when_ns. A wait stands for a core that is stalled
  // on memory, so the system clock spins and keeps its core.
  virtual void wait_until_ns(uint64_t when_ns) = 0;
};

// The process-wide monotonic clock. Never deleted.
Clock& system_clock();

}  // namespace nvcache
