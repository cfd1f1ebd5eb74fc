// Random numbers for the contract suites: SplitMix64, the same from the same seed everywhere.
// Caller-locked.
#pragma once

#include <cstdint>

namespace nvcache {

// One step of SplitMix64: a bijective mix of 64 bits.
constexpr uint64_t split_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

class SeededRandom {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}

  // In [0, bound), nearly uniform; bound > 0.
  uint64_t below(uint64_t bound) { return split_mix(state_++) % bound; }

 private:
  uint64_t state_;
};

}  // namespace nvcache
