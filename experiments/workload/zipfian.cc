#include "experiments/workload/zipfian.h"

#include <algorithm>
#include <cmath>

namespace nvcache {

double zeta(uint64_t from, uint64_t to, double theta, double start) {
  double sum = start;
  for (uint64_t i = from; i < to; ++i) sum += 1.0 / std::pow(static_cast<double>(i + 1), theta);
  return sum;
}

Zipfian::Zipfian(uint64_t items, double theta) : Zipfian(items, theta, zeta(0, items, theta)) {}

Zipfian::Zipfian(uint64_t items, double theta, double zeta_of_items)
    : items_(items), theta_(theta), zetan_(zeta_of_items) {
  derive();
}

void Zipfian::derive() {
  const double zeta2 = zeta(0, 2, theta_);
  alpha_ = 1.0 / (1.0 - theta_);
  eta_ = (1.0 - std::pow(2.0 / static_cast<double>(items_), 1.0 - theta_)) / (1.0 - zeta2 / zetan_);
}

uint64_t Zipfian::next(Prng& prng) const {
  const double u = prng.unit();
  const double uz = u * zetan_;
  if (uz < 1.0) return 0;
  if (uz < 1.0 + std::pow(0.5, theta_)) return 1;
  const double rank = static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1.0, alpha_);
  // Rounding can reach `items` itself when u is next to 1.
  return std::min(static_cast<uint64_t>(rank), items_ - 1);
}

void Zipfian::grow_to(uint64_t items) {
  if (items <= items_) return;
  zetan_ = zeta(items_, items, theta_, zetan_);
  items_ = items;
  derive();
}

}  // namespace nvcache
