// RegionTable by itself: the order in which regions leave, who holds them, and what was removed.
#include "block_cache/region/region_table.h"

#include <initializer_list>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace nvcache {
namespace {

TEST(RegionTable, TheOldestLeavesFirstButOneWithoutBlocksBefore) {
  RegionTable table({.regions = 8, .limit = 8});
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(table.take_free(), i);
    table.add(i, 10);
    table.seal(i);
  }
  EXPECT_EQ(table.take_to_empty(/*only_without_blocks=*/true), std::nullopt);
  table.remove(2, 0, 10);
  EXPECT_EQ(table.take_to_empty(false), 2u);
  EXPECT_EQ(table.take_to_empty(false), 0u);
  EXPECT_EQ(table.take_to_empty(false), 1u);
  EXPECT_FALSE(table.take_sealed(1));
  EXPECT_TRUE(table.take_sealed(3));
}

TEST(RegionTable, ABlockKeepsItsRegion) {
  RegionTable table({.regions = 4, .limit = 4});
  const uint32_t region = *table.take_free();
  table.add(region, 3);
  table.seal(region);
  ASSERT_EQ(table.take_to_empty(false), region);
  table.let_go(region);
  EXPECT_EQ(table.free_regions(), 3u) << "a reader still pins the block";
  table.remove(region, 0, 3);
  EXPECT_EQ(table.free_regions(), 4u);
}

TEST(RegionTable, LimitsMoveDownAndUp) {
  RegionTable table({.regions = 8, .limit = 6});
  EXPECT_EQ(table.free_regions(), 6u);
  for (uint32_t i = 0; i < 6; ++i) {
    ASSERT_EQ(table.take_free(), i);
    table.seal(i);
  }
  EXPECT_EQ(table.taken_end(), 6u);
  table.set_limit(2);
  for (uint32_t i = 2; i < 6; ++i) {
    ASSERT_TRUE(table.take_sealed(i));
    table.let_go(i);
  }
  EXPECT_EQ(table.free_regions(), 0u) << "what is freed beyond the limit is not in use";
  EXPECT_EQ(table.taken_end(), 2u);
  table.set_limit(8);
  EXPECT_EQ(table.free_regions(), 6u);
  table.set_limit(0);
  EXPECT_EQ(table.free_regions(), 0u);
  EXPECT_EQ(table.take_free(), std::nullopt);
}

TEST(RegionTable, ListsWhatWasRemovedUntilTheRegionLeaves) {
  RegionTable table({.regions = 4, .limit = 4, .list_removals = true});
  const uint32_t region = *table.take_free();
  table.add(region, 1);
  table.add(region, 1);
  table.remove(region, 5, 1);
  table.seal(region);
  ASSERT_EQ(table.removed().size(), 1u);
  EXPECT_EQ(table.removed()[0].offset_grains, 5u);
  ASSERT_TRUE(table.take_sealed(region));
  table.let_go(region);
  table.remove(region, 0, 1);
  ASSERT_EQ(table.removed().size(), 1u);
  EXPECT_EQ(table.removed()[0].offset_grains, RegionTable::kWholeRegion);
}

TEST(RegionTable, ARegionChangesItsStateInOrderOnly) {
  RegionTable table({.regions = 4, .limit = 4});
  const uint32_t region = *table.take_free();
  EXPECT_DEATH(table.let_go(region), "kLeaving") << "it is open, and nobody empties it";
  table.add(region, 3);
  table.seal(region);
  EXPECT_DEATH(table.seal(region), "kOpen");
  EXPECT_DEATH(table.recover_sealed(region), "kUnknown");
  ASSERT_TRUE(table.take_sealed(region));
  table.remove(region, 0, 2);
  EXPECT_DEATH(table.let_go(region), "held.load") << "a grain of its block is missing";
}

TEST(RegionTable, AListThatIsTooLongGivesUpTheRegionsWithMostInIt) {
  const auto list = [](std::initializer_list<std::pair<uint32_t, uint32_t>> counts) {
    std::vector<RegionTable::Removed> removed;
    for (const auto& [region, count] : counts) {
      for (uint32_t i = 0; i < count; ++i) removed.push_back({region, i});
    }
    return removed;
  };
  const auto whole = [](const std::vector<RegionTable::Removed>& removed) {
    std::vector<uint32_t> regions;
    for (const auto& each : removed) {
      if (each.offset_grains == RegionTable::kWholeRegion) regions.push_back(each.region);
    }
    return regions;
  };
  auto removed = list({{1, 3}, {2, 10}, {4, 1}, {5, 6}});
  RegionTable::shorten(&removed, 20);
  EXPECT_EQ(removed.size(), 20u);
  EXPECT_TRUE(whole(removed).empty());
  RegionTable::shorten(&removed, 11);
  EXPECT_EQ(removed.size(), 11u);
  EXPECT_EQ(whole(removed), std::vector<uint32_t>{2});
  RegionTable::shorten(&removed, 7);
  EXPECT_EQ(removed.size(), 6u);
  EXPECT_EQ(whole(removed), (std::vector<uint32_t>{2, 5}));
  RegionTable::shorten(&removed, 1);
  EXPECT_EQ(removed.size(), 4u) << "one a region is the least";
}

}  // namespace
}  // namespace nvcache
