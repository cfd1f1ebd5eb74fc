#include "base/assert.h"

#include "gtest/gtest.h"

namespace nvcache {
namespace {

TEST(Assert, PrintsWhereAndWhatAndAborts) {
  const int zones = 3;
  NVCACHE_ASSERT(zones == 3);
  EXPECT_DEATH(NVCACHE_ASSERT(zones < 3), "assert_test.cc:[0-9]+: nvcache: 'zones < 3' does not");
}

TEST(Assert, ASlowOneRunsWhereItIsOnAndOnlyThere) {
  int runs = 0;
  NVCACHE_ASSERT_SLOW(++runs > 0);
  EXPECT_EQ(runs, kSlowAssertions ? 1 : 0);
  if (kSlowAssertions) {
    EXPECT_DEATH(NVCACHE_ASSERT_SLOW(runs > 1), "'runs > 1'");
  }
}

}  // namespace
}  // namespace nvcache
