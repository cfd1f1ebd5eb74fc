// Which keys are hot: the locality of section 3.2 of *Hybrid Cache* (ATC '21),
// where a small share of the key-value pairs carries a large share of the accesses.
//
//   PowerLaw       P(rank below the share x of the pairs) = x^b
//   ScatteredRuns  where a rank lies in the order of keys: equally hot pairs lie side
//                  by side in runs, and the runs lie anywhere
//
// Computed with base/exact_math.h: the same seed draws the same ranks on every machine. Immutable:
// thread-safe.
#pragma once

#include <cstdint>

#include "base/prng.h"

namespace nvcache {

class PowerLaw {
 public:
  // The hottest `hot_share` of `items` gets `hot_accesses` of all accesses; both in
  // (0, 1), items > 0. 0.1 and 0.5 make b = ln 0.5 / ln 0.1 = 0.301.
  PowerLaw(uint64_t items, double hot_share, double hot_accesses);

  // A rank in [0, items): 0 is the hottest. One exact_pow(): some 20 ns.
  uint64_t next(Prng& prng) const;

  // The share of accesses that the hottest `ranks` get.
  double share_of(uint64_t ranks) const;

  double exponent() const { return exponent_; }
  uint64_t items() const { return items_; }

 private:
  uint64_t items_;
  double exponent_;
};

class ScatteredRuns {
 public:
  // run_keys > 0, keys >= run_keys. Keys after the last whole run are not used.
  ScatteredRuns(uint64_t keys, uint64_t run_keys, uint64_t seed);

  // How many ranks have a key.
  uint64_t keys() const { return runs_ * run_keys_; }
  // rank < keys(); different ranks have different keys.
  uint64_t key_of(uint64_t rank) const;

 private:
  uint64_t shuffled(uint64_t run) const;

  uint64_t runs_;
  uint64_t run_keys_;
  uint64_t seed_;
  int half_bits_;
};

}  // namespace nvcache
