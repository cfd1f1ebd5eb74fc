#include "base/clock.h"

#include <chrono>

#include "base/never_destroyed.h"
#include "base/pause.h"

namespace nvcache {
namespace {

// Spins, never sleeps: a core that is stalled on memory runs nothing else. A wait that
// gave up its core would let other threads do more than the hardware allows. Hence a
// waiting thread costs a whole core; waits by more threads than cores measure the
// scheduler; and a thread that is preempted while it waits returns late. Accuracy otherwise: one
// pause and one reading of the clock, some 50 ns.
class SystemClock final : public Clock {
 public:
  uint64_t now_ns() const override {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
  }

  void wait_until_ns(uint64_t when_ns) override {
    while (now_ns() < when_ns) pause_core();
  }
};

}  // namespace

Clock& system_clock() {
  static NeverDestroyed<SystemClock> clock;
  return *clock;
}

}  // namespace nvcache
