// Zipf-distributed numbers after Gray et al., "Quickly Generating Billion-Record
// Synthetic Databases" (SIGMOD '94), as YCSB's ZipfianGenerator computes them:
// item i (from 0) has the share (1 / (i+1)^theta) / zeta(items, theta).
// Caller-locked: each thread keeps its own (copies are cheap).
#pragma once

#include <cstdint>

#include "base/prng.h"

namespace nvcache {

inline constexpr double kYcsbTheta = 0.99;  // YCSB's ZIPFIAN_CONSTANT

// Sum of 1 / i^theta for i in (from, to], added to `start`: O(to - from).
double zeta(uint64_t from, uint64_t to, double theta, double start = 0);

class Zipfian {
 public:
  // items >= 2. Sums zeta once: about 30 ns an item.
  explicit Zipfian(uint64_t items, double theta = kYcsbTheta);
  // For item counts too large to sum: zeta(items, theta) is given.
  Zipfian(uint64_t items, double theta, double zeta_of_items);

  // A number in [0, items).
  uint64_t next(Prng& prng) const;

  // More items from now on; fewer than before is ignored. O(items added).
  void grow_to(uint64_t items);

  uint64_t items() const { return items_; }
  double zeta_of_items() const { return zetan_; }

 private:
  void derive();

  uint64_t items_;
  double theta_;
  double zetan_;
  double alpha_ = 0;
  double eta_ = 0;
};

}  // namespace nvcache
