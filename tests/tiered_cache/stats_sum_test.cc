// Caches of one process, added up.
#include "tiered_cache/stats_sum.h"

#include "gtest/gtest.h"

namespace nvcache {
namespace {

TieredStats stats_of_a_cache() {
  TieredStats stats;
  stats.lookups = 100;
  stats.misses = 20;
  stats.queued_bytes = 5;
  stats.policy = "dram_first";
  stats.tiers.resize(2);
  stats.tiers[0].medium = "dram (objects)";
  TierStats& lower = stats.tiers[1];
  lower.hits = 30;
  lower.dropped = 2;
  lower.blocks = 7;
  lower.size_bytes = 1000;
  lower.threshold = 4;
  lower.medium = "file";
  lower.block_cache.hits = 30;
  lower.block_cache.refused[1] = 3;
  lower.block_cache.data_bytes = 11;
  lower.block_cache.eviction = "lru";
  return stats;
}

TEST(StatsSum, AddsTotalsAndGaugesTierByTier) {
  TieredStats sum;
  add_stats(stats_of_a_cache(), /*open=*/true, &sum);
  EXPECT_EQ(sum.to_json(), stats_of_a_cache().to_json());
  add_stats(stats_of_a_cache(), /*open=*/true, &sum);
  EXPECT_EQ(sum.lookups, 200u);
  EXPECT_EQ(sum.misses, 40u);
  EXPECT_EQ(sum.queued_bytes, 10u);
  EXPECT_EQ(sum.hit_ratio(), 0.8);
  const TierStats& lower = sum.tiers.at(1);
  EXPECT_EQ(lower.hits, 60u);
  EXPECT_EQ(lower.blocks, 14u);
  EXPECT_EQ(lower.size_bytes, 2000u);
  EXPECT_EQ(lower.threshold, 4u);
  EXPECT_EQ(lower.block_cache.hits, 60u);
  EXPECT_EQ(lower.block_cache.refused[1], 6u);
  EXPECT_EQ(lower.block_cache.data_bytes, 22u);
}

TEST(StatsSum, OfAClosedCacheTheTotalsStay) {
  TieredStats sum;
  add_stats(stats_of_a_cache(), /*open=*/true, &sum);
  add_stats(stats_of_a_cache(), /*open=*/false, &sum);
  EXPECT_EQ(sum.lookups, 200u);
  EXPECT_EQ(sum.queued_bytes, 5u);
  const TierStats& lower = sum.tiers.at(1);
  EXPECT_EQ(lower.hits, 60u);
  EXPECT_EQ(lower.dropped, 4u);
  EXPECT_EQ(lower.blocks, 7u);
  EXPECT_EQ(lower.size_bytes, 1000u);
  EXPECT_EQ(lower.block_cache.refused[1], 6u);
  EXPECT_EQ(lower.block_cache.data_bytes, 11u);
}

TEST(StatsSum, ATierThatCouldNotBeOpenedIsSeenBesideOthers) {
  TieredStats broken = stats_of_a_cache();
  broken.tiers[1].problem = "in use";
  TieredStats sum;
  add_stats(broken, /*open=*/true, &sum);
  add_stats(stats_of_a_cache(), /*open=*/true, &sum);
  EXPECT_EQ(sum.tiers.at(1).problem, "in use");
}

TEST(StatsSum, CachesMayHaveTiersOfAnotherNumber) {
  TieredStats shallow = stats_of_a_cache();
  shallow.tiers.resize(1);
  TieredStats sum;
  add_stats(stats_of_a_cache(), /*open=*/true, &sum);
  add_stats(shallow, /*open=*/true, &sum);
  EXPECT_EQ(sum.tiers.size(), 2u);
  EXPECT_EQ(sum.tiers[1].hits, 30u);
}

}  // namespace
}  // namespace nvcache
