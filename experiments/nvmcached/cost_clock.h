// The time of a thread that is charged by modelled media and not made to wait: waits are
// added up. What the thread does itself takes as long as it is told to. The same calls
// thus cost the same on every machine, and the model's own arithmetic costs nothing.
// Caller-locked: one thread.
#pragma once

#include <ctime>

#include "base/clock.h"

namespace nvcache::nvmcached {

class CostClock final : public Clock {
 public:
  uint64_t now_ns() const override { return now_ns_; }
  void wait_until_ns(uint64_t when_ns) override {
    if (when_ns <= now_ns_) return;
    waited_ns_ += when_ns - now_ns_;
    now_ns_ = when_ns;
  }
  // The thread was at work.
  void advance(uint64_t ns) { now_ns_ += ns; }
  uint64_t waited_ns() const { return waited_ns_; }

 private:
  uint64_t now_ns_ = 0;
  uint64_t waited_ns_ = 0;
};

inline uint64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace nvcache::nvmcached
