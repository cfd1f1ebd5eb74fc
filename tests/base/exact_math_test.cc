#include "base/exact_math.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

TEST(ExactMath, AgreesWithTheCLibrary) {
  for (double x = -30; x < 30; x += 0.0173) {
    EXPECT_NEAR(exact_exp(x) / std::exp(x), 1, 1e-15) << x;
    const double positive = std::exp(x);
    EXPECT_NEAR(exact_log(positive), std::log(positive), 1e-15 * std::abs(x) + 2e-16) << x;
  }
  for (double x = 0.01; x < 1e10; x *= 1.7) {
    for (const double y : {-0.99, 0.01, 0.5, 1.0}) {
      EXPECT_NEAR(exact_pow(x, y) / std::pow(x, y), 1, 1e-13) << x << " " << y;
    }
  }
}

TEST(ExactMath, EndsWhereDoublesDo) {
  EXPECT_EQ(exact_exp(0), 1);
  EXPECT_EQ(exact_exp(-1e6), 0);
  EXPECT_EQ(exact_exp(1e6), exact_exp(700));
  EXPECT_EQ(exact_log(1), 0);
}

// Bits that were computed once: another compiler or processor must find the same.
TEST(ExactMath, TheBitsAreThese) {
  uint64_t bits = 0;
  for (double x = 0.001; x < 600; x *= 1.01) {
    bits = bits * 31 + std::bit_cast<uint64_t>(exact_exp(x));
    bits = bits * 31 + std::bit_cast<uint64_t>(exact_log(x));
  }
  EXPECT_EQ(bits, 11763401653976759176u);
}

}  // namespace
}  // namespace nvcache
