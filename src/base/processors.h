// How many processors there are for this process. std::thread::hardware_concurrency() opens a file
// for that, in the thread that asks: in a host that has a standard stream closed, the file takes
// its place for that moment (base/descriptors.h). One system call.
#pragma once

#include <sched.h>

#include <cstdint>

namespace nvcache {

// Those that the calling thread may run on; CPU_SETSIZE if there are more than that. Thread-safe.
inline uint32_t usable_processors() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return CPU_SETSIZE;
  return static_cast<uint32_t>(CPU_COUNT(&usable));
}

}  // namespace nvcache
