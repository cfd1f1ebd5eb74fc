// The seed of a test's random choices: NVCACHE_TEST_SEED repeats a run. Printed once,
// when it is first asked for.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace nvcache {

// Sanitizers make a test ten times slower, and look for other faults than it does: they run a tenth
// of the seeds, or all with NVCACHE_TEST_ALL_SEEDS set.
inline uint64_t seeds(uint64_t wanted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr bool kSanitizes = true;
#elif defined(__has_feature)
  constexpr bool kSanitizes = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
  constexpr bool kSanitizes = false;
#endif
  const bool tenth = kSanitizes && std::getenv("NVCACHE_TEST_ALL_SEEDS") == nullptr;
  return tenth ? (wanted + 9) / 10 : wanted;
}

inline uint64_t test_seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("NVCACHE_TEST_SEED");
    const uint64_t chosen = given != nullptr ? std::strtoull(given, nullptr, 10) : 20221107;
    std::printf("NVCACHE_TEST_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return seed;
}

}  // namespace nvcache
