// Preloaded into nvcached: its wall clock is ahead by the seconds that NVCACHE_TEST_CLOCK_AHEAD
// names.
#include <dlfcn.h>

#include <cstdlib>
#include <ctime>

extern "C" int clock_gettime(clockid_t clock, timespec* now) {
  using Real = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Real>(dlsym(RTLD_NEXT, "clock_gettime"));
  static const char* const ahead = std::getenv("NVCACHE_TEST_CLOCK_AHEAD");
  const int result = real(clock, now);
  if (clock == CLOCK_REALTIME && ahead != nullptr) now->tv_sec += std::atol(ahead);
  return result;
}
