#include "base/unix_time.h"

#include <gtest/gtest.h>

#include <ctime>

namespace nvcache {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
int64_t wall_ns = 0;
int64_t steady_ns = 0;

TEST(SteadyUnixClock, FollowsTimeAndNoStepOfTheWallClock) {
  wall_ns = 1'700'000'000 * kSecondNs + kSecondNs / 2;
  steady_ns = 77 * kSecondNs;
  const SteadyUnixClock clock([] { return wall_ns; }, [] { return steady_ns; });
  EXPECT_EQ(clock.now_s(), 1'700'000'000u);
  steady_ns += kSecondNs / 2;
  EXPECT_EQ(clock.now_s(), 1'700'000'001u);
  wall_ns -= 86'400 * kSecondNs;
  EXPECT_EQ(clock.now_s(), 1'700'000'001u) << "a step back";
  wall_ns += 10 * 86'400 * kSecondNs;
  EXPECT_EQ(clock.now_s(), 1'700'000'001u) << "a step forward";
  steady_ns += 9 * kSecondNs;
  EXPECT_EQ(clock.now_s(), 1'700'000'010u);
}

TEST(SteadyUnixClock, GoesAheadWhereItMustAndNeverBack) {
  wall_ns = 1'700'000'000 * kSecondNs;
  steady_ns = 77 * kSecondNs;
  SteadyUnixClock clock([] { return wall_ns; }, [] { return steady_ns; });
  clock.not_before(1'699'999'999);
  EXPECT_EQ(clock.now_s(), 1'700'000'000u) << "it is later already";
  clock.not_before(1'700'000'500);
  EXPECT_EQ(clock.now_s(), 1'700'000'500u);
  clock.not_before(1'700'000'400);
  EXPECT_EQ(clock.now_s(), 1'700'000'500u);
  steady_ns += 9 * kSecondNs;
  EXPECT_EQ(clock.now_s(), 1'700'000'509u);
}

TEST(SteadyUnixClock, TheProcesssIsTheWallClocksAtTheStart) {
  EXPECT_NEAR(static_cast<double>(steady_unix_s()), static_cast<double>(std::time(nullptr)), 2);
}

}  // namespace
}  // namespace nvcache
