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

}  // namespace

uint32_t steady_unix_s() {
  static const SteadyUnixClock clock(read_ns<CLOCK_REALTIME>, read_ns<CLOCK_MONOTONIC_COARSE>);
  return clock.now_s();
}

}  // namespace nvcache
