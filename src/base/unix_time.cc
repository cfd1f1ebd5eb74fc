#include "base/unix_time.h"

#include <ctime>

namespace nvcache {
namespace {

template <clockid_t kClock>
int64_t read_ns() {
  timespec now{};
  clock_gettime(kClock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

SteadyUnixClock& process_clock() {
  static SteadyUnixClock clock(read_ns<CLOCK_REALTIME>, read_ns<CLOCK_BOOTTIME>);
  return clock;
}

}  // namespace

void SteadyUnixClock::not_before(uint32_t unix_s) {
  const int64_t least_ns = int64_t{unix_s} * 1'000'000'000 - steady_ns_();
  int64_t offset_ns = offset_ns_.load(std::memory_order_relaxed);
  while (offset_ns < least_ns &&
         !offset_ns_.compare_exchange_weak(offset_ns, least_ns, std::memory_order_relaxed)) {
  }
}

uint32_t steady_unix_s() { return process_clock().now_s(); }
void steady_unix_s_not_before(uint32_t unix_s) { process_clock().not_before(unix_s); }
uint32_t wall_unix_s() { return static_cast<uint32_t>(read_ns<CLOCK_REALTIME>() / 1'000'000'000); }

}  // namespace nvcache
