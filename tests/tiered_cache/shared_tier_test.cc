// Caches of one process that share a lower tier by its name: one tier, and to each its own blocks.
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/pause.h"
#include "base/prng.h"
#include "gmock/gmock.h"
#include "support/shared_engines.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"
#include "tiered_cache/shared_tiers.h"

namespace nvcache {
namespace {

using test::count_version;
using test::Engine;
using test::key_of;
using test::put_versions;
using test::refusal_of_tier;
using test::shared_tier_of;
using test::spec_sharing;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(SharedTier, EachCacheFindsItsOwnBlocksUnderTheSameKeys) {
  const std::string spec = spec_sharing("name=own_blocks,size=1MiB,shards=1");
  Engine one(spec);
  Engine other(spec);
  put_versions(one, 1, 24, /*version=*/10);
  EXPECT_EQ(count_version(other, 1, 24, 20), 0u) << "it has put none";
  put_versions(other, 1, 24, /*version=*/20);
  EXPECT_EQ(count_version(one, 1, 24, 10), 24u);
  EXPECT_EQ(count_version(other, 1, 24, 20), 24u);
}

TEST(SharedTier, ItIsOneTierOfOneSize) {
  const std::string name = test::new_tier_name();
  const std::string spec = spec_sharing("name=" + name + ",size=256KiB,shards=1");
  Engine one(spec);
  Engine other(spec);
  put_versions(one, 1, 100, 1);
  put_versions(other, 1, 100, 2);
  const TierStats ours = shared_tier_of(one);
  const TierStats theirs = shared_tier_of(other);
  for (const TierStats& tier : {ours, theirs}) {
    EXPECT_EQ(tier.name, name);
    EXPECT_EQ(tier.users, 2u);
    EXPECT_EQ(tier.size_bytes, 256u << 10);
    EXPECT_LE(tier.used_bytes, 256u << 10);
    EXPECT_EQ(tier.block_cache.inserts, 192u) << "of both";
    EXPECT_EQ(tier.demoted_in, 96u) << "of this one";
  }
  EXPECT_EQ(ours.blocks, theirs.blocks);
  EXPECT_EQ(ours.block_cache.evictions, 192u - ours.blocks);
  EXPECT_EQ(count_version(one, 1, 96, 1), 0u) << "the other's newer blocks have pushed them out";
  EXPECT_EQ(count_version(other, 1, 100, 2), ours.blocks + 4);
  EXPECT_EQ(one.hits(1), 0u);
  EXPECT_EQ(other.hits(1), ours.blocks);
}

TEST(SharedTier, FiftyCachesHaveOneTierAndCloseBesideEachOther) {
  constexpr uint64_t kCaches = 50;
  const std::string spec = spec_sharing("name=fifty,size=8MiB,shards=4");
  std::vector<std::unique_ptr<Engine>> caches;
  for (uint64_t i = 0; i < kCaches; ++i) caches.push_back(std::make_unique<Engine>(spec));
  for (uint64_t i = 0; i < kCaches; ++i) put_versions(*caches[i], 1, 14, i + 1);
  EXPECT_EQ(shared_tier_of(*caches[0]).users, kCaches);
  EXPECT_EQ(shared_tier_of(*caches[0]).size_bytes, 8u << 20);
  EXPECT_EQ(shared_tier_of(*caches[0]).blocks, kCaches * 10);
  for (uint64_t i = 0; i < kCaches; ++i) EXPECT_EQ(count_version(*caches[i], 1, 14, i + 1), 14u);
  for (uint64_t i = 0; i < kCaches; i += 2) caches[i].reset();
  EXPECT_EQ(shared_tier_of(*caches[1]).users, kCaches / 2);
  EXPECT_EQ(shared_tier_of(*caches[1]).blocks, kCaches / 2 * 10) << "no more, and no less";
  for (uint64_t i = 1; i < kCaches; i += 2) EXPECT_EQ(count_version(*caches[i], 1, 14, i + 1), 14u);
}

TEST(SharedTier, BlocksThatOneCacheErasesOrReplacesTheOtherKeeps) {
  const std::string spec = spec_sharing("name=erases,size=1MiB,shards=1");
  Engine one(spec);
  Engine other(spec);
  put_versions(one, 1, 24, 1);
  put_versions(other, 1, 24, 2);
  for (uint64_t id = 1; id <= 5; ++id) one.cache->erase(key_of(id));
  for (uint64_t id = 6; id <= 10; ++id) {
    TieredCache::Handle* const handle = one.hold(id);
    ASSERT_NE(handle, nullptr);
    EXPECT_TRUE(one.cache->release(handle, /*erase_if_last=*/true));
  }
  EXPECT_EQ(count_version(one, 1, 10, 1), 0u);
  EXPECT_EQ(count_version(other, 1, 24, 2), 24u);
  put_versions(one, 11, 15, 3);
  EXPECT_EQ(count_version(one, 11, 15, 3), 5u);
  EXPECT_EQ(count_version(other, 1, 24, 2), 24u);
  one.cache->erase_unreferenced();
  EXPECT_EQ(count_version(one, 1, 24, 1), 0u);
  EXPECT_EQ(count_version(other, 1, 24, 2), 24u);
  EXPECT_EQ(shared_tier_of(other).blocks, 20u);
}

TEST(SharedTier, FilesThatDieInOneCacheLiveOnInTheOther) {
  const std::string spec = spec_sharing("name=gone_files,size=1MiB,shards=1");
  Engine one(spec);
  Engine other(spec);
  put_versions(one, 1, 24, 1);
  put_versions(other, 1, 14, 2);
  const uint64_t files[] = {test::file_of_keys()};
  one.cache->erase_gone_files(files);
  EXPECT_EQ(count_version(one, 1, 24, 1), 0u);
  EXPECT_EQ(count_version(other, 1, 14, 2), 14u);
  put_versions(other, 15, 30, 2);
  EXPECT_EQ(count_version(other, 1, 30, 2), 30u) << "the file may come in from there";
  EXPECT_EQ(shared_tier_of(other).blocks, 26u);
}

TEST(SharedTier, AClosedCacheLeavesNoBlocks) {
  const std::string spec = spec_sharing("name=closed,size=1MiB,shards=1");
  Engine staying(spec);
  {
    Engine closed(spec);
    put_versions(closed, 1, 24, 1);
    put_versions(staying, 1, 14, 2);
    EXPECT_EQ(shared_tier_of(staying).blocks, 30u);
  }
  EXPECT_EQ(shared_tier_of(staying).users, 1u);
  EXPECT_EQ(shared_tier_of(staying).blocks, 10u);
  EXPECT_EQ(count_version(staying, 1, 14, 2), 14u);
  Engine next(spec);
  EXPECT_EQ(count_version(next, 1, 24, 3), 0u);
}

// One that leaves as the tier's last may meet one that joins.
TEST(SharedTier, ACacheThatLeavesLeavesNoBlocksToOneThatJoinsMeanwhile) {
  constexpr int kRounds = 300;
  const TierConfig config =
      parse_tiered_config(spec_sharing("name=meets,size=256KiB,shards=1,maintenance=0"))->tiers[0];
  std::unique_ptr<TierShare> leaves;
  std::atomic<int> begun{0};
  std::atomic<int> left{0};
  std::thread leaver([&] {
    for (int round = 1; round <= kRounds; ++round) {
      while (begun < round) std::this_thread::yield();
      leaves.reset();
      left = round;
    }
  });
  Prng random(test_seed());
  uint64_t garbage = 0;
  for (int round = 1; round <= kRounds; ++round) {
    leaves = TierShare::join(config, "").value();
    const std::vector<std::byte> block(512);
    const std::atomic<uint32_t> generation{0};
    BlockStore* const opened = leaves->store().open();
    EXPECT_TRUE(opened->put(leaves->keys().inside({1, 1}), block, Origin::kRead, {generation, 0})
                    .admitted());
    begun = round;
    for (uint64_t spin = random.below(100); spin > 0; --spin) pause_core();
    const auto joined = TierShare::join(config, "").value();
    while (left < round) std::this_thread::yield();
    EXPECT_EQ(joined->users(), 1u);
    garbage += joined->stats().blocks;
  }
  leaver.join();
  EXPECT_EQ(garbage, 0u);
}

TEST(SharedTier, ItIsOpenFromTheFirstBlockToTheLastCache) {
  const TempDir folder;
  const std::string path = folder.file("blocks");
  const auto spec = [&](const char* size) {
    return spec_sharing(std::string("name=opened,size=") + size + ",medium=file:" + path);
  };
  {
    Engine one(spec("256KiB"));
    {
      Engine other(spec("256KiB"));
      put_versions(one, 1, 4, 1);
      put_versions(other, 1, 4, 1);
      EXPECT_FALSE(std::filesystem::exists(path)) << "all is in the first tiers";
      put_versions(other, 5, 5, 1);
      EXPECT_TRUE(std::filesystem::exists(path));
    }
    EXPECT_TRUE(std::filesystem::exists(path)) << "one is left that uses it";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  Engine later(spec("512KiB"));
  put_versions(later, 1, 5, 1);
  EXPECT_EQ(shared_tier_of(later).size_bytes, 512u << 10) << "nobody holds it to the old";
  EXPECT_EQ(count_version(later, 1, 5, 1), 5u);
}

TEST(SharedTier, AnotherDefinitionIsRefusedAndNamed) {
  const std::string spec = spec_sharing("name=defined,size=256KiB,shards=1");
  Engine engine(spec);
  put_versions(engine, 1, 10, 1);
  EXPECT_THAT(
      refusal_of_tier(spec_sharing("name=defined,size=1MiB,shards=1")).message(),
      AllOf(HasSubstr("tier 1: name=defined: given size=1MiB"), HasSubstr("open with size=256KiB"),
            HasSubstr("another name"), Not(HasSubstr("shards"))));
  const std::string eviction = "name=defined,size=256KiB,shards=1,eviction=clock";
  EXPECT_THAT(refusal_of_tier(spec_sharing(eviction)).message(),
              HasSubstr("given eviction=clock; open with eviction=lru;"));
  EXPECT_THAT(refusal_of_tier(spec_sharing("name=defined,size=256KiB")).message(),
              HasSubstr("given shards=auto; open with shards=1;"));
  const std::string medium = "name=defined,size=256KiB,shards=1,medium=emulated:cxl,on=dram";
  EXPECT_THAT(refusal_of_tier(spec_sharing(medium)).message(),
              HasSubstr("given medium=emulated:cxl,on=dram; open with medium=dram;"));
  EXPECT_THAT(refusal_of_tier(spec + "&keys=immutable").message(),
              HasSubstr("given keys=immutable; open with keys=mutable;"));
  // Settings that mean the same are the same. Each cache has a threshold of its own.
  Engine same(spec_sharing("shards=1,size=262144,name=defined,threshold=3"));
  EXPECT_EQ(shared_tier_of(same).users, 2u) << "those that were refused are none";
  EXPECT_EQ(count_version(engine, 1, 10, 1), 10u);
}

TEST(SharedTier, EverySettingIsNamedByItsRefusal) {
  const std::string regions = "name=each,size=8MiB,space=regions,medium=file:/nowhere/x";
  Engine engine(spec_sharing(regions));
  for (const std::string setting :
       {"size=9MiB", "max_size=9MiB", "medium=file:/nowhere/y", "admission=second_touch",
        "eviction=clock", "verify=always", "shards=2", "write_queue=2MiB", "region=64KiB",
        "rewrite=0.5", "discard=on", "format=yes", "keys=immutable", "restart_rate=1MiB",
        "maintenance=2"}) {
    const std::string key = setting.substr(0, setting.find('='));
    std::string tier = "name=each,space=regions," + setting;
    if (key != "size") tier += ",size=8MiB";
    if (key != "medium") tier += ",medium=file:/nowhere/x";
    const Status refused = refusal_of_tier(spec_sharing(tier));
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << setting;
    EXPECT_THAT(refused.message(), HasSubstr(key + "=")) << setting;
  }
}

TEST(SharedTier, AMediumThatCannotBeOpenedIsToldByAll) {
  const std::string spec = spec_sharing("name=no_medium,size=256KiB,medium=file:/nowhere/at/all");
  Engine one(spec);
  Engine other(spec);
  put_versions(one, 1, 10, 1);
  put_versions(other, 1, 10, 2);
  EXPECT_EQ(count_version(one, 1, 10, 1), 4u);
  for (Engine* const engine : {&one, &other}) {
    const TierStats tier = shared_tier_of(*engine);
    EXPECT_THAT(tier.problem, HasSubstr("/nowhere/at/all"));
    EXPECT_EQ(tier.refused, 6u);
    EXPECT_EQ(tier.medium, "file:/nowhere/at/all");
  }
}

TEST(SharedTier, PromotionCountsTheReferencesOfEachCache) {
  const std::string tier = "name=promotes,size=256KiB,shards=1";
  Engine climbs(spec_sharing(tier, "&policy=bidirectional(2)"));
  Engine stays(spec_sharing(tier));
  put_versions(climbs, 1, 5, 1);
  put_versions(stays, 1, 5, 2);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(stays.served_by(1), 1);
  EXPECT_EQ(climbs.served_by(1), 1);
  EXPECT_EQ(climbs.served_by(1), 1);
  EXPECT_EQ(climbs.served_by(1), 1) << "the third reference moves it";
  EXPECT_EQ(climbs.served_by(1), 0);
}

TEST(SharedTier, StandsBelowTiersOfACachesOwn) {
  const std::string spec =
      "tiered://?metadata=free&demote=foreground&shards=1&high_priority=0&"
      "dram=16KiB&tier=(size=64KiB,shards=1)&"
      "tier=(name=below,size=1MiB,shards=1)";
  Engine one(spec);
  Engine other(spec);
  put_versions(one, 1, 60, 1);
  put_versions(other, 1, 60, 2);
  EXPECT_EQ(count_version(one, 1, 60, 1), 60u);
  EXPECT_EQ(count_version(other, 1, 60, 2), 60u);
  EXPECT_EQ(other.cache->stats().tiers[2].users, 2u);
  EXPECT_EQ(other.cache->stats().tiers[1].users, 0u);
  EXPECT_GT(other.cache->stats().tiers[2].hits, 0u);
}

}  // namespace
}  // namespace nvcache
