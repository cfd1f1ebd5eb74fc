// The map of a file's cached extents against a plain list.
#include "file_cache/extent_map.h"

#include <algorithm>
#include <vector>

#include "base/prng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nvcache {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

std::vector<FileRange> overlapped(ExtentMap& map, const FileRange& range) {
  std::vector<FileRange> removed;
  EXPECT_FALSE(map.take_overlapped(range, 1000, &removed));
  return removed;
}

TEST(ExtentMap, TakesWholeUnitsOnly) {
  EXPECT_TRUE(ExtentMap::takes({0, 512}));
  EXPECT_TRUE(ExtentMap::takes({uint64_t{1} << 50, 4096}));
  EXPECT_FALSE(ExtentMap::takes({0, 0}));
  EXPECT_FALSE(ExtentMap::takes({100, 512}));
  EXPECT_FALSE(ExtentMap::takes({512, 700}));
  EXPECT_TRUE(ExtentMap::takes({0, ExtentMap::kMaxExtentBytes}));
  EXPECT_FALSE(ExtentMap::takes({0, ExtentMap::kMaxExtentBytes + 512}));
  EXPECT_FALSE(ExtentMap::takes({uint64_t{1} << 58, 512}));
}

TEST(ExtentMap, FindsNeighboursOnlyWhereTheyOverlap) {
  ExtentMap map;
  EXPECT_TRUE(map.insert({4096, 4096}));
  EXPECT_FALSE(map.insert({4096, 4096}));
  EXPECT_TRUE(map.insert({8192, 512}));
  EXPECT_THAT(overlapped(map, {0, 4096}), IsEmpty());
  EXPECT_THAT(overlapped(map, {8704, 100000}), IsEmpty());
  EXPECT_THAT(overlapped(map, {8191, 1}), ElementsAre(FileRange{4096, 4096}));
  EXPECT_THAT(overlapped(map, {8192, 0}), IsEmpty());
  EXPECT_THAT(overlapped(map, {8703, 1}), ElementsAre(FileRange{8192, 512}));
  EXPECT_EQ(map.size(), 0u);
}

TEST(ExtentMap, OneWriteMayOverlapManyAndThoseBesideItStay) {
  ExtentMap map;
  for (uint64_t i = 0; i < 100; ++i) map.insert({i * 1024, 512});
  const std::vector<FileRange> removed = overlapped(map, {10 * 1024 + 511, 5 * 1024});
  ASSERT_EQ(removed.size(), 6u);
  EXPECT_EQ(removed.front().offset, 10 * 1024u);
  EXPECT_EQ(removed.back().offset, 15 * 1024u);
  EXPECT_EQ(map.size(), 94u);
}

TEST(ExtentMap, GoesRoundItsExtents) {
  ExtentMap map;
  uint64_t position = 0;
  EXPECT_FALSE(map.next(&position).has_value());
  map.insert({0, 512});
  map.insert({4096, 1024});
  std::vector<uint64_t> offsets;
  for (int i = 0; i < 4; ++i) offsets.push_back(map.next(&position)->offset);
  EXPECT_THAT(offsets, ElementsAre(0u, 4096u, 0u, 4096u));
}

TEST(ExtentMap, AgreesWithAPlainList) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Prng random(seed);
    ExtentMap map;
    std::vector<FileRange> list;
    for (int i = 0; i < 3000; ++i) {
      const FileRange range{random.below(400) * 512, (1 + random.below(40)) * 512};
      std::vector<FileRange> expected;
      const auto hit = [&](const FileRange& other) { return other.overlaps(range); };
      std::copy_if(list.begin(), list.end(), std::back_inserter(expected), hit);
      std::erase_if(list, hit);
      ASSERT_THAT(overlapped(map, range), UnorderedElementsAreArray(expected));
      if (random.below(3) == 0) continue;
      ASSERT_TRUE(map.insert(range));
      list.push_back(range);
      ASSERT_EQ(map.size(), list.size());
    }
  }
}

}  // namespace
}  // namespace nvcache
