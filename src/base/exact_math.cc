#include "base/exact_math.h"

#include <cmath>

#include "base/assert.h"

namespace nvcache {
namespace {

// ln 2 in two parts: a multiple of the first by a small whole number is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kMostExponent = 700;
constexpr int kExpTerms = 14;  // |r| < 0.35: the next one is below 1e-17
constexpr int kLogTerms = 12;  // |s| < 0.172: likewise

}  // namespace

double exact_exp(double x) {
  if (x < -kMostExponent) return 0;
  if (x > kMostExponent) x = kMostExponent;
  const double halves = std::floor(x / kLn2 + 0.5);
  const double r = (x - halves * kLn2High) - halves * kLn2Low;
  double sum = 1;  // 1 + r/1 (1 + r/2 (1 + r/3 (...)))
  for (int term = kExpTerms; term > 0; --term) sum = 1 + sum * (r / term);
  return std::ldexp(sum, static_cast<int>(halves));
}

double exact_log(double x) {
  NVCACHE_ASSERT_SLOW(x > 0);
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2 artanh s, s = (m - 1) / (m + 1)
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int term = kLogTerms; term >= 0; --term) sum = sum * square + 1.0 / (2 * term + 1);
  const auto twos = static_cast<double>(exponent);
  return twos * kLn2High + (twos * kLn2Low + 2 * s * sum);
}

double exact_pow(double x, double y) { return exact_exp(y * exact_log(x)); }

}  // namespace nvcache
