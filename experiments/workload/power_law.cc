#include "experiments/workload/power_law.h"

#include <algorithm>
#include <bit>

#include "base/exact_math.h"

namespace nvcache {

PowerLaw::PowerLaw(uint64_t items, double hot_share, double hot_accesses)
    : items_(items), exponent_(exact_log(hot_accesses) / exact_log(hot_share)) {}

uint64_t PowerLaw::next(Prng& prng) const {
  const double draw = prng.unit();
  if (draw <= 0) return 0;
  const double share = exact_pow(draw, 1 / exponent_);
  // Rounding can reach `items` itself when the draw is next to 1.
  return std::min(static_cast<uint64_t>(share * static_cast<double>(items_)), items_ - 1);
}

double PowerLaw::share_of(uint64_t ranks) const {
  if (ranks == 0) return 0;
  return exact_pow(static_cast<double>(ranks) / static_cast<double>(items_), exponent_);
}

ScatteredRuns::ScatteredRuns(uint64_t keys, uint64_t run_keys, uint64_t seed)
    : runs_(keys / run_keys),
      run_keys_(run_keys),
      seed_(seed),
      half_bits_(std::max(1, (static_cast<int>(std::bit_width(runs_ - 1)) + 1) / 2)) {}

uint64_t ScatteredRuns::key_of(uint64_t rank) const {
  return shuffled(rank / run_keys_) * run_keys_ + rank % run_keys_;
}

// A Feistel network permutes the next power of four; a result outside
// of the runs is permuted again until it is inside.
uint64_t ScatteredRuns::shuffled(uint64_t run) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  do {
    uint64_t left = run >> half_bits_;
    uint64_t right = run & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (mix64(seed_ ^ (right << 3 | round)) & mask);
      left = right;
      right = next;
    }
    run = left << half_bits_ | right;
  } while (run >= runs_);
  return run;
}

}  // namespace nvcache
