// Where the policies of a tiered cache put and move blocks, tier by tier.
#include "base/prng.h"
#include "medium/table.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"
#include "support/tiered_fixture.h"

namespace nvcache {
namespace {

using test::Engine;
using test::key_of;

// Four objects in the first tier, one shard each, moved by who pushes them out, so that
// orders are exact.
constexpr const char* kBase =
    "tiered://?metadata=free&demote=foreground&shards=1&high_priority=0&dram=16KiB&";
// As kBase, but in the background.
constexpr const char* kQueued =
    "tiered://?metadata=free&shards=1&high_priority=0&dram=16KiB&tier=(size=256KiB,shards=1)";

Engine open(const std::string& more) { return Engine(kBase + more); }

constexpr const char* kScm = "tier=(size=256KiB,shards=1)";

void fill(Engine& engine, uint64_t first, uint64_t last) {
  for (uint64_t id = first; id <= last; ++id) engine.put_held(id);
}

TEST(DramFirst, NewBlocksEnterDramAndWhatLeavesGoesToScm) {
  Engine engine = open(kScm);
  fill(engine, 1, 4);
  EXPECT_EQ(engine.blocks(0), 4u);
  EXPECT_EQ(engine.blocks(1), 0u);
  engine.put_held(5);
  EXPECT_EQ(engine.blocks(0), 4u);
  EXPECT_EQ(engine.served_by(1), 1) << "the oldest leaves first";
  EXPECT_EQ(engine.served_by(2), 0);
}

TEST(DramFirst, AHitInScmIsServedFromThereForEver) {
  Engine engine = open(kScm);
  fill(engine, 1, 5);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(engine.served_by(1), 1);
  const TieredStats stats = engine.cache->stats();
  EXPECT_EQ(stats.tiers[0].promoted_in, 0u);
  EXPECT_EQ(stats.tiers[1].demoted_in, 1u);
  EXPECT_EQ(stats.tiers[1].block_cache.inserts, 1u) << "one write to the medium per block";
}

TEST(DramFirst, WhatWasUsedOrIsHeldStaysWhenItsTurnComes) {
  Engine engine = open(kScm);
  fill(engine, 1, 4);
  TieredCache::Handle* const handle = engine.hold(2);
  engine.get(1);
  fill(engine, 5, 6);  // 3 and 4 leave
  EXPECT_EQ(engine.served_by(1), 0);
  EXPECT_EQ(engine.served_by(3), 1);
  EXPECT_EQ(engine.served_by(4), 1);
  engine.cache->release(handle);
  EXPECT_EQ(engine.served_by(2), 0);
  fill(engine, 7, 20);  // nothing is used any more
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_EQ(engine.served_by(2), 1);
}

TEST(ScmFirst, NewBlocksEnterScmAndClimbPastTheThreshold) {
  Engine engine = open(std::string("policy=scm_first&") + kScm);
  engine.put_held(1);
  EXPECT_EQ(engine.blocks(0), 0u);
  EXPECT_EQ(engine.blocks(1), 1u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(engine.served_by(1), 1) << i;
  EXPECT_EQ(engine.served_by(1), 1) << "the seventh reference is served from SCM and moves it";
  EXPECT_EQ(engine.blocks(0), 1u);
  EXPECT_EQ(engine.blocks(1), 0u) << "a block is in one tier";
  EXPECT_EQ(engine.served_by(1), 0);
}

TEST(ScmFirst, WhatLeavesDramGoesBackToScm) {
  Engine engine = open(std::string("policy=scm_first(1)&") + kScm);
  for (uint64_t id = 1; id <= 5; ++id) {
    engine.put_held(id);
    engine.get(id);
    engine.get(id);
  }
  EXPECT_EQ(engine.blocks(0), 4u);
  EXPECT_EQ(engine.blocks(1), 1u);
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_EQ(engine.served_by(5), 0);
}

TEST(Bidirectional, ABlockClimbsBackPastTheThreshold) {
  Engine engine = open(std::string("policy=bidirectional&") + kScm);
  fill(engine, 1, 5);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(engine.served_by(1), 1) << i;
  EXPECT_EQ(engine.served_by(1), 0) << "the fifth reference moved it";
  EXPECT_EQ(engine.served_by(2), 1) << "for which another left";
  EXPECT_EQ(engine.blocks(0) + engine.blocks(1), 5u);
}

TEST(Bidirectional, ATiersOwnThresholdWins) {
  Engine engine = open("policy=bidirectional(9)&tier=(size=256KiB,threshold=1)");
  fill(engine, 1, 5);
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_EQ(engine.served_by(1), 0);
  EXPECT_EQ(engine.cache->stats().tiers[1].threshold, 1u);
}

TEST(Bidirectional, BackgroundLookupsCountForNothing) {
  Engine engine = open(std::string("policy=bidirectional(1)&") + kScm);
  fill(engine, 1, 5);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(engine.get(1, Caller::kBackground), 1u);
  EXPECT_EQ(engine.cache->stats().tiers[0].promoted_in, 0u);
}

TEST(Bidirectional, AdaptiveThresholdsFollowTheUseOfTheTierAbove) {
  Engine engine = open(std::string("policy=bidirectional(6,adaptive)&") + kScm);
  fill(engine, 1, 5);
  engine.cache->erase(key_of(2));
  engine.cache->erase(key_of(3));
  engine.cache->erase(key_of(4));  // a quarter full: threshold max(1, round(6 / 4)) = 2
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_EQ(engine.served_by(1), 0);
}

TEST(ThresholdInUse, FollowsItsFormula) {
  EXPECT_EQ(threshold_in_use(6, 1), 6u);
  EXPECT_EQ(threshold_in_use(6, 0.5), 3u);
  EXPECT_EQ(threshold_in_use(6, 0), 1u);
  EXPECT_EQ(threshold_in_use(6, 7), 6u);
  EXPECT_EQ(threshold_in_use(0, 1), 0u);
}

TEST(TieredCache, ScmAloneHoldsWhatDramOfNothingLetsGo) {
  Engine engine("tiered://?metadata=free&dram=0&tier=(size=256KiB,shards=1)");
  fill(engine, 1, 5);
  EXPECT_EQ(engine.blocks(0), 0u);
  EXPECT_EQ(engine.blocks(1), 5u);
  EXPECT_EQ(engine.served_by(3), 1);
  EXPECT_EQ(engine.cache->use().used_bytes, 0u);
}

TEST(TieredCache, BlocksFallTierByTierAndOutOfTheLast) {
  Engine engine = open("tier=(size=64KiB,shards=1)&tier=(size=64KiB,shards=1)");
  fill(engine, 1, 100);
  const TieredStats stats = engine.cache->stats();
  EXPECT_EQ(stats.tiers[0].blocks, 4u);
  EXPECT_GT(stats.tiers[1].blocks, 8u);
  EXPECT_GT(stats.tiers[2].blocks, 8u);
  EXPECT_EQ(stats.tiers[1].demoted_in, 96u);
  EXPECT_EQ(stats.tiers[2].demoted_in, 96u - stats.tiers[1].blocks);
  EXPECT_EQ(stats.tiers[2].dropped, 96u - stats.tiers[1].blocks - stats.tiers[2].blocks);
  EXPECT_EQ(engine.served_by(100), 0);
  EXPECT_EQ(engine.served_by(90), 1);
  EXPECT_EQ(engine.served_by(75), 2);
  EXPECT_EQ(engine.served_by(10), -1);
}

TEST(TieredCache, BlocksClimbTierByTier) {
  Engine engine = open("policy=scm_first(1)&tier=(size=64KiB)&tier=(size=64KiB)");
  engine.put_held(1);
  EXPECT_EQ(engine.served_by(1), 2);
  EXPECT_EQ(engine.served_by(1), 2);
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_EQ(engine.served_by(1), 0);
  EXPECT_EQ(engine.blocks(0), 1u);
  EXPECT_EQ(engine.blocks(1), 0u);
  EXPECT_EQ(engine.blocks(2), 0u);
}

TEST(TieredCache, AdmissionGuardsTheMovesIntoScm) {
  Engine engine = open("tier=(size=256KiB,admission=second_touch,shards=1)");
  fill(engine, 1, 5);
  EXPECT_EQ(engine.served_by(1), -1) << "its first departure is refused";
  EXPECT_EQ(engine.cache->stats().tiers[1].refused, 1u);
  engine.put_held(1);  // 2 leaves
  fill(engine, 6, 9);  // 3, 4, 5, then 1 again
  EXPECT_EQ(engine.served_by(1), 1);
  EXPECT_GT(engine.cache->stats().tiers[0].dropped, 0u);
}

TEST(TieredCache, ARefusedBlockIsOfferedToTheTierBelow) {
  Engine engine = open("tier=(size=64KiB,admission=probability(0))&tier=(size=64KiB)");
  fill(engine, 1, 5);
  EXPECT_EQ(engine.served_by(1), 2);
}

TEST(TieredCache, HighPriorityStaysInDramUnlessToldOtherwise) {
  for (const bool demote : {false, true}) {
    Engine engine =
        open(std::string("policy=scm_first&") + (demote ? "demote_high=on&" : "") + kScm);
    engine.put(1, 1, Priority::kHigh);
    EXPECT_EQ(engine.served_by(1), demote ? 1 : 0);
    for (uint64_t id = 2; id < 10; ++id) engine.put(id, 1, Priority::kHigh);
    EXPECT_EQ(engine.served_by(1), demote ? 1 : -1);
  }
}

TEST(TieredCache, HighPriorityOutlastsAScan) {
  Engine engine("tiered://?metadata=free&shards=1&dram=32KiB&high_priority=0.5");
  engine.put(1, 1, Priority::kHigh);
  engine.put(2);
  engine.get(2);
  for (uint64_t id = 10; id < 40; ++id) engine.put(id);
  EXPECT_EQ(engine.get(1), 1u);
  EXPECT_EQ(engine.get(2), 1u);
}

TEST(TieredCache, AMediumThatCannotBeOpenedRefusesAndSaysWhy) {
  Engine engine = open("tier=(size=256KiB,medium=file:/no/such/folder/x)");
  fill(engine, 1, 20);
  EXPECT_EQ(engine.served_by(1), -1);
  EXPECT_EQ(engine.served_by(20), 0);
  const TieredStats stats = engine.cache->stats();
  EXPECT_EQ(stats.tiers[1].refused, 16u);
  EXPECT_NE(stats.tiers[1].problem.find("/no/such/folder/x"), std::string::npos);
  EXPECT_NE(stats.to_json().find("problem"), std::string::npos);
}

TEST(TieredCache, MediaAreOpenedWhenTheFirstBlockComes) {
  TempDir folder;
  Engine engine = open("tier=(size=256KiB,medium=file:" + folder.file("blocks") + ")");
  fill(engine, 1, 4);
  EXPECT_EQ(engine.cache->stats().tiers[1].block_cache.size_bytes, 0u);
  engine.put_held(5);
  EXPECT_EQ(engine.cache->stats().tiers[1].block_cache.size_bytes, 256u << 10);
}

TEST(TieredCache, AnObjectThatCannotBeSavedIsDropped) {
  Engine engine = open(kScm);
  engine.codec->fail_saves = true;
  fill(engine, 1, 5);
  EXPECT_EQ(engine.served_by(1), -1);
  EXPECT_EQ(engine.cache->stats().tiers[0].dropped, 1u);
}

TEST(Background, WhatWaitsIsTakenBack) {
  Engine engine(kQueued);
  fill(engine, 1, 5);
  TieredStats stats = engine.cache->stats();
  EXPECT_EQ(stats.queued, 1u) << "one alone wakes nobody";
  EXPECT_EQ(stats.queued_bytes, Engine::kObjectBytes);
  EXPECT_EQ(engine.cache->use().used_bytes, 4 * Engine::kObjectBytes) << "of residents";
  EXPECT_EQ(engine.served_by(1), 0);
  stats = engine.cache->stats();
  EXPECT_EQ(stats.taken_back, 1u);
  EXPECT_EQ(stats.queued, 1u) << "another left for it";
  EXPECT_EQ(stats.lookups, stats.misses + stats.tiers[0].hits);
  EXPECT_EQ(engine.served_by(1), 0);
  EXPECT_EQ(engine.cache->stats().tiers[1].demoted_in, 0u);
}

TEST(Background, DrainMovesWhatWaits) {
  Engine engine(kQueued);
  fill(engine, 1, 7);
  engine.cache->drain();
  const TieredStats stats = engine.cache->stats();
  EXPECT_EQ(stats.queued, 0u);
  EXPECT_EQ(stats.queued_bytes, 0u);
  EXPECT_EQ(stats.tiers[1].demoted_in, 3u);
  EXPECT_EQ(engine.served_by(1), 1);
}

TEST(Background, ABatchIsMovedUnasked) {
  Engine engine(kQueued);
  fill(engine, 1, 4 + DemotionQueue::kBatch);
  while (engine.cache->stats().queued > 0) std::this_thread::yield();
  EXPECT_EQ(engine.cache->stats().tiers[1].demoted_in, uint64_t{DemotionQueue::kBatch});
}

TEST(Background, WhatIsReplacedOrErasedWhileItWaitsIsGone) {
  Engine engine(kQueued);
  fill(engine, 1, 6);
  EXPECT_EQ(engine.cache->stats().queued, 2u);
  engine.cache->erase(key_of(1));
  engine.put(2, 7);
  EXPECT_EQ(engine.get(1), 0u);
  EXPECT_EQ(engine.get(2), 7u);
  engine.cache->drain();
  EXPECT_EQ(engine.get(1), 0u);
  EXPECT_EQ(engine.get(2), 7u);
}

TEST(Background, ShrinkingAndErasingEmptyTheQueue) {
  Engine engine(kQueued);
  fill(engine, 1, 6);
  engine.cache->erase_unreferenced();
  EXPECT_EQ(engine.cache->stats().queued_bytes, 0u);
  EXPECT_EQ(engine.codec->alive, 0);
  fill(engine, 1, 6);
  engine.cache->set_capacity(0);
  EXPECT_EQ(engine.cache->stats().queued_bytes, 0u);
  EXPECT_EQ(engine.codec->alive, 0);
  EXPECT_EQ(engine.blocks(1), 6u);
}

// The table of a shard grows twelve times, which moves every entry to another bucket.
TEST(TieredCache, LookupsFindWhatStaysWhileTheTableGrows) {
  constexpr uint64_t kStaying = 256;
  Engine engine("tiered://?metadata=free&shards=1&dram=1GiB");
  for (uint64_t id = 0; id < kStaying; ++id) engine.put(id);
  std::atomic<bool> done{false};
  std::atomic<uint64_t> missed{0};
  std::vector<std::thread> readers;
  for (uint64_t t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      Prng random(test_seed() + t);
      while (!done.load()) missed += engine.get(random.below(kStaying)) == 0 ? 1 : 0;
    });
  }
  for (uint64_t id = 1000; id < 101'000; ++id) engine.put(id);
  done.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(missed.load(), 0u);
}

TEST(TieredConfig, MistakesAreNamed) {
  const std::pair<const char*, const char*> kMistakes[] = {
      {"nvcache://?dram=1MiB", "allowed: tiered://"},
      {"tiered://", "dram"},
      {"tiered://?dram=1Mi", "dram"},
      {"tiered://?dram=0", "tier=(...)"},
      {"tiered://?dram=1MiB&dram=2MiB", "at most once"},
      {"tiered://?dram=1MiB&policy=lru", "dram_first"},
      {"tiered://?dram=1MiB&policy=scm_first(0)", "1 to 254"},
      {"tiered://?dram=1MiB&policy=scm_first(255)", "1 to 254"},
      {"tiered://?dram=1MiB&policy=bidirectional(4,sometimes)", "adaptive"},
      {"tiered://?dram=1MiB&policy=dram_first(4)", "dram_first"},
      {"tiered://?dram=1MiB&tier=size=1MiB", "tier=(size=SIZE"},
      {"tiered://?dram=1MiB&tier=(size=1MiB", "brackets"},
      {"tiered://?dram=1MiB&tier=(size=1MiB,color=red)", "color"},
      {"tiered://?dram=1MiB&tier=(medium=dram)", "size"},
      {"tiered://?dram=1MiB&tier=(size=1MiB,threshold=0)", "threshold"},
      {"tiered://?dram=1MiB&tier=(size=1MiB,admission=obp(x))", "tier 1: admission"},
      {"tiered://?dram=1MiB&tier=(size=1MiB,medium=tape)", "tier 1: medium 'tape'"},
      {"tiered://?dram=1MiB&strict=yes", "on, off"},
      {"tiered://?dram=1MiB&shards=3", "power of two"},
      {"tiered://?dram=1MiB&high_priority=0.7&low_priority=0.6", "together"},
      {"tiered://?dram=1MiB&metadata=none", "charge, free"},
      {"tiered://?dram=1MiB&demote=later", "background, foreground"},
      {"tiered://?dram=1MiB&size=3", "unknown setting 'size'"},
  };
  for (const auto& [spec, expected] : kMistakes) {
    const StatusOr<TieredConfig> parsed = parse_tiered_config(spec);
    ASSERT_FALSE(parsed.ok()) << spec;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(parsed.status().message()).find(expected), std::string::npos)
        << spec << ": " << parsed.status();
  }
  std::string many = "tiered://?dram=1MiB";
  for (int i = 0; i < 8; ++i) many += "&tier=(size=1MiB)";
  EXPECT_FALSE(parse_tiered_config(many).ok());
}

TEST(TieredConfig, ATierTakesEveryMediumWithItsOptions) {
  for (const MediumRow& row : kMedia) {
    for (const std::string_view example : row.examples) {
      const std::string spec =
          fmt::format("tiered://?dram=1MiB&tier=(size=1MiB,medium={},threshold=2)", example);
      const auto config = parse_tiered_config(spec);
      ASSERT_TRUE(config.ok()) << config.status();
      EXPECT_EQ(config->tiers[0].cache.medium, example);
      EXPECT_EQ(config->tiers[0].threshold, 2u);
    }
  }
}

TEST(TieredConfig, ReadsAll) {
  const TieredConfig config =
      parse_tiered_config(
          "tiered://?policy=scm_first(2,adaptive)&dram=64MiB&strict=on&high_priority=0.3&"
          "low_priority=0.1&shards=8&metadata=free&demote=foreground&demote_high=on&"
          "tier=(size=1GiB,medium=emulated:cxl,on=file:/x,io=direct,admission=obp(0.1,window)+"
          "second_touch,threshold=3)&tier=(size=2GiB, eviction=clock)")
          .value();
  EXPECT_EQ(config.policy, "scm_first(2,adaptive)");
  EXPECT_EQ(config.dram_bytes, 64u << 20);
  EXPECT_TRUE(config.strict && config.demote_high && !config.charge_metadata);
  EXPECT_EQ(config.shard_bits, 3);
  EXPECT_FALSE(config.demote_in_background);
  ASSERT_EQ(config.tiers.size(), 2u);
  EXPECT_EQ(config.tiers[0].cache.medium, "emulated:cxl,on=file:/x,io=direct");
  EXPECT_EQ(config.tiers[0].cache.admission, "obp(0.1,window)+second_touch");
  EXPECT_EQ(config.tiers[0].cache.eviction, "lru");
  EXPECT_EQ(config.tiers[0].threshold, 3u);
  EXPECT_EQ(config.tiers[1].cache.admission, "always");
  EXPECT_EQ(config.tiers[1].cache.eviction, "clock");
}

}  // namespace
}  // namespace nvcache
