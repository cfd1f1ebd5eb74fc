// The seed of a test's random choices: NVCACHE_TEST_SEED repeats a run. Printed once,
// when it is first asked for.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace nvcache {

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
