// The statistics of a process with many tiered caches.
#include "tiered_cache/stats_sum.h"

#include <vector>

#include "support/shared_engines.h"

namespace nvcache {
namespace {

using test::Engine;

TieredStats total_of(const StatsSum& closed, const std::vector<const Engine*>& open) {
  StatsSum sum = closed;
  for (const Engine* const engine : open) sum.add(engine->cache->stats());
  return sum.total();
}

TEST(StatsSum, ASharedTierCountsOnceAndTotalsNeverFall) {
  const std::string name = test::new_tier_name();
  const std::string spec = test::spec_sharing("name=" + name + ",size=256KiB,shards=1");
  StatsSum closed;
  Engine one(spec);
  test::put_versions(one, 1, 24, 1);
  {
    Engine other(spec);
    test::put_versions(other, 1, 24, 2);
    test::count_version(other, 1, 10, 2);
    const TierStats both = total_of(closed, {&one, &other}).tiers[1];
    EXPECT_EQ(both.name, name);
    EXPECT_EQ(both.size_bytes, 256u << 10);
    EXPECT_EQ(both.blocks, 40u);
    EXPECT_EQ(both.users, 2u);
    EXPECT_EQ(both.demoted_in, 40u);
    EXPECT_EQ(both.hits, 10u);
    EXPECT_EQ(both.block_cache.hits, 10u);
    EXPECT_EQ(both.block_cache.inserts, 40u);
    closed.add_closed(other.cache->stats());
  }
  const TierStats left = total_of(closed, {&one}).tiers[1];
  EXPECT_EQ(left.users, 1u);
  EXPECT_EQ(left.blocks, 20u);
  EXPECT_EQ(left.hits, 10u);
  EXPECT_EQ(left.block_cache.hits, 10u);
  EXPECT_EQ(left.block_cache.inserts, 40u);
  EXPECT_EQ(left.size_bytes, 256u << 10);
  closed.add_closed(one.cache->stats());
  one.cache.reset();
  const TierStats last = total_of(closed, {}).tiers[1];
  EXPECT_EQ(last.users, 0u);
  EXPECT_EQ(last.blocks, 0u);
  EXPECT_EQ(last.size_bytes, 0u);
  EXPECT_EQ(last.demoted_in, 40u);
  EXPECT_EQ(last.block_cache.inserts, 40u);
  Engine again(spec);
  test::put_versions(again, 1, 5, 3);
  EXPECT_EQ(total_of(closed, {&again}).tiers[1].block_cache.inserts, 41u);
}

TEST(StatsSum, CachesWithTiersOfTheirOwnAreAddedUp) {
  const std::string spec = test::spec_sharing("size=256KiB,shards=1");
  Engine one(spec);
  Engine other(spec);
  test::put_versions(one, 1, 24, 1);
  test::put_versions(other, 1, 14, 1);
  test::count_version(one, 1, 30, 1);
  StatsSum closed;
  const TieredStats both = total_of(closed, {&one, &other});
  EXPECT_EQ(both.lookups, 30u);
  EXPECT_EQ(both.misses, 6u);
  EXPECT_EQ(both.tiers[0].size_bytes, 32u << 10);
  EXPECT_EQ(both.tiers[1].size_bytes, 512u << 10);
  EXPECT_EQ(both.tiers[1].users, 0u);
  EXPECT_EQ(both.tiers[1].blocks, 30u);
  EXPECT_EQ(both.tiers[1].hits, 20u);
  EXPECT_EQ(both.tiers[1].block_cache.inserts, 30u);
  closed.add_closed(one.cache->stats());
  const TieredStats later = total_of(closed, {&other});
  EXPECT_EQ(later.tiers[1].blocks, 10u);
  EXPECT_EQ(later.tiers[1].block_cache.inserts, 30u);
  EXPECT_EQ(later.lookups, 30u);
}

}  // namespace
}  // namespace nvcache
