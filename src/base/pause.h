// Tells the processor that a loop only waits: the core's other hardware thread then runs faster.
#pragma once

namespace nvcache {

inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace nvcache
