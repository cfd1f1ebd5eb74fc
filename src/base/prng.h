// A small, fast, seeded pseudo-random generator (SplitMix64): every random
// choice in nvcache can be replayed from its seed. Not for secrets.
#pragma once

#include <cstdint>

namespace nvcache {

// One step of SplitMix64: a bijective mix of 64 bits.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Caller-locked. Satisfies UniformRandomBitGenerator.
class Prng {
 public:
  using result_type = uint64_t;
  explicit Prng(uint64_t seed) : state_(seed) {}

  uint64_t operator()() {
    const uint64_t out = mix64(state_);
    state_ += 0x9e3779b97f4a7c15ull;
    return out;
  }
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }

  // Uniform in [0, bound); bound > 0. Bias below bound / 2^64.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>((*this)()) * bound) >> 64);
  }
  // Uniform in [0, 1).
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace nvcache
