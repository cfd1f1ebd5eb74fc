// The clock of a thread that emulated media charge, but do not stop: it adds up the waits. The
// thread's own work takes as long as advance() says. So the same calls cost the same on every
// machine, and the arithmetic of the model costs nothing.
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
  // The thread worked for so long.
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
