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

RemovalList listed(const RegionTable& table) {
  RemovalList list;
  table.list_removals(RegionTable::Unknown::kKept, &list);
  return list;
}

TEST(RegionTable, ListsWhatWasRemovedUntilTheRegionLeaves) {
  RegionTable table({.regions = 4, .limit = 4, .list_removals = true});
  EXPECT_TRUE(listed(table).outdated().empty()) << "nothing was ever written";
  const uint32_t region = *table.take_free();
  table.add(region, 1);
  table.add(region, 1);
  table.remove(region, 5, 1);
  table.seal(region);
  ASSERT_EQ(listed(table).places().size(), 1u);
  EXPECT_EQ(listed(table).places()[0], (RemovalList::Place{region, 5}));
  ASSERT_TRUE(table.take_sealed(region));
  table.let_go(region);
  table.remove(region, 0, 1);
  EXPECT_TRUE(listed(table).places().empty());
  ASSERT_EQ(listed(table).outdated().size(), 1u);
  EXPECT_EQ(listed(table).outdated()[0], (RemovalList::Run{region, 1}));
}

// However many regions there are that this opening does not know: they are one run.
TEST(RegionTable, RegionsThatItDoesNotKnowAreOneRunOfTheList) {
  constexpr uint32_t kMany = 140'000;
  RegionTable table(
      {.regions = kMany, .limit = 100, .list_removals = true, .recovers = true, .believed = 90});
  ASSERT_EQ(listed(table).outdated().size(), 1u);
  EXPECT_EQ(listed(table).outdated()[0], (RemovalList::Run{90, kMany - 90}));
  EXPECT_FALSE(table.is_believed(90));
  for (uint32_t region = 0; region < 90; ++region) table.recover_free(region);
  for (uint32_t region = 90; region < 100; ++region) table.recover_outdated(region);
  EXPECT_EQ(listed(table).outdated()[0], (RemovalList::Run{90, kMany - 90}));
  EXPECT_EQ(table.take_free(), 0u);
  ASSERT_EQ(listed(table).outdated().size(), 2u) << "one is open, and has no footer of its own yet";
  EXPECT_EQ(listed(table).outdated()[0], (RemovalList::Run{0, 1}));
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

}  // namespace
}  // namespace nvcache
