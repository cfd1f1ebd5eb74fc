// For portable builds (cmake/portable.cmake): two functions of glibc 2.36 that the static libevent
// of newer distributions calls, on top of what 2.28 has. libevent takes them for ids of DNS
// queries.
#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" {

void arc4random_buf(void* into, size_t size_bytes) {
  auto* at = static_cast<char*>(into);
  while (size_bytes > 0) {
    const ssize_t got = getrandom(at, size_bytes, 0);
    if (got < 0 && errno != EINTR) std::abort();  // as glibc's own: there is no other answer
    if (got <= 0) continue;
    at += got;
    size_bytes -= static_cast<size_t>(got);
  }
}

uint32_t arc4random() {
  uint32_t number = 0;
  arc4random_buf(&number, sizeof number);
  return number;
}

}  // extern "C"
