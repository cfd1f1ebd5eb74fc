// Bounds how fast something is read: a number of bytes a second, on a clock that is given.
//
// A token bucket of 50 ms' worth, full at first. A read may begin while it holds anything, and may
// leave a debt. So after t seconds at most RATE * (t + 0.05) bytes were read, and the last read.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace nvcache {

// Caller-locked. The clock must outlive it.
class ReadPace {
 public:
  // bytes_per_second 0: as fast as it goes.
  ReadPace(const Clock* clock, double bytes_per_second)
      : clock_(clock), bytes_per_second_(bytes_per_second) {}

  // How long the next read has to wait; 0: not at all.
  uint64_t wait_ns() const {
    if (bytes_per_second_ <= 0) return 0;
    const uint64_t now_ns = clock_->now_ns();
    return due_ns_ > now_ns + kBurstNs ? due_ns_ - now_ns - kBurstNs : 0;
  }

  // A read of that many bytes begins.
  void take(uint64_t bytes) {
    if (bytes_per_second_ <= 0) return;
    const double took_ns = static_cast<double>(bytes) / bytes_per_second_ * 1e9;
    constexpr double kLongestNs = 1e18;  // decades
    due_ns_ =
        std::max(due_ns_, clock_->now_ns()) + static_cast<uint64_t>(std::min(took_ns, kLongestNs));
  }

 private:
  static constexpr uint64_t kBurstNs = 50'000'000;

  const Clock* const clock_;
  const double bytes_per_second_;
  uint64_t due_ns_ = 0;  // when all that was read is paid for
};

}  // namespace nvcache
