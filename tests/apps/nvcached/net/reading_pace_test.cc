// Who goes first when the memory of all connections is used up.
#include "apps/nvcached/net/reading_pace.h"

#include <gtest/gtest.h>

namespace nvcache::server {
namespace {

using Kind = ReadingPace::Kind;

// After so many seconds, in each of which its client took so much.
ReadingPace pace(uint64_t turn, int seconds, uint64_t bytes_per_second) {
  ReadingPace one;
  one.begin(turn);
  for (int second = 1; second <= seconds; ++second) {
    one.end_second(100 + static_cast<uint64_t>(second) * bytes_per_second);
  }
  return one;
}

TEST(ReadingPace, IsKnownAfterTheSecondWholeSecond) {
  EXPECT_EQ(ReadingPace().kind(), Kind::kHasAll);
  EXPECT_EQ(pace(1, 0, 0).kind(), Kind::kNew);
  EXPECT_EQ(pace(1, 1, 1000).kind(), Kind::kNew) << "its system took that, perhaps";
  EXPECT_EQ(pace(1, 2, 0).kind(), Kind::kNew);
  EXPECT_EQ(pace(1, 3, 0).kind(), Kind::kDead);
  EXPECT_EQ(pace(1, 2, 1).kind(), Kind::kReads);
}

TEST(ReadingPace, OneThatStopsIsDeadTwoSecondsLater) {
  ReadingPace one = pace(1, 5, 1000);
  one.end_second(5100);
  EXPECT_EQ(one.kind(), Kind::kReads);
  one.end_second(5100);
  EXPECT_EQ(one.kind(), Kind::kDead);
  one.end_second(5200);
  EXPECT_EQ(one.kind(), Kind::kReads);
}

TEST(ReadingPace, OneThatTookAllIsKnownForTwoSeconds) {
  ReadingPace one = pace(1, 1, 0);
  one.end();
  EXPECT_EQ(one.kind(), Kind::kHasAll);
  one.begin(2);
  EXPECT_EQ(one.kind(), Kind::kReads);
  for (int second = 0; second < 3; ++second) one.end_second(100);
  EXPECT_EQ(one.kind(), Kind::kDead);
}

TEST(ReadingPace, TheDeadGoFirstThenTheNewThenThoseThatTakeLeast) {
  const ReadingPace order[] = {pace(3, 3, 0),  pace(4, 3, 0),    pace(9, 0, 0), pace(8, 0, 0),
                               pace(7, 5, 10), pace(6, 5, 1000), ReadingPace()};
  for (const ReadingPace& one : order) {
    for (const ReadingPace& other : order) EXPECT_EQ(one.goes_before(other), &one < &other);
  }
}

}  // namespace
}  // namespace nvcache::server
