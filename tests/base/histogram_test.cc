#include "base/histogram.h"

#include <gtest/gtest.h>

namespace nvcache {
namespace {

TEST(Histogram, EmptyIsZero) {
  const Histogram empty;
  EXPECT_EQ(empty.quantile(0.5), 0u);
  EXPECT_EQ(empty.count(), 0u);
  EXPECT_EQ(empty.mean(), 0);
}

TEST(Histogram, QuantilesWithinABucketOfTheTruth) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 100'000; ++i) histogram.record(i * 10);
  for (double q : {0.01, 0.5, 0.95, 0.99}) {
    EXPECT_NEAR(static_cast<double>(histogram.quantile(q)), q * 1e6, q * 1e6 * 0.016) << q;
  }
  EXPECT_EQ(histogram.max(), 1'000'000u);
  EXPECT_LE(histogram.quantile(1), histogram.max());
  EXPECT_NEAR(histogram.mean(), 500'005, 1);
}

TEST(Histogram, ExtremesHaveABucket) {
  Histogram histogram;
  histogram.record(0);
  histogram.record(63);
  histogram.record(64);
  histogram.record(~uint64_t{0});
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_EQ(histogram.quantile(0), 0u);
  EXPECT_EQ(histogram.quantile(0.5), 63u);
  EXPECT_GT(histogram.quantile(1), ~uint64_t{0} / 100 * 98);
}

TEST(Histogram, MergeIsRecordingAllInOne) {
  Histogram a, b, all;
  for (uint64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? a : b).record(i * i);
    all.record(i * i);
  }
  a.merge(b);
  EXPECT_EQ(a.count(), all.count());
  for (double q : {0.1, 0.5, 0.9, 1.0}) EXPECT_EQ(a.quantile(q), all.quantile(q));
  a.clear();
  EXPECT_EQ(a.count(), 0u);
}

}  // namespace
}  // namespace nvcache
