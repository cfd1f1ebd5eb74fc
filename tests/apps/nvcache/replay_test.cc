// Replays: known answers, and the policies beside the optimum.
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "apps/nvcache/replay_report.h"
#include "apps/nvcache/replay_trace.h"
#include "base/prng.h"
#include "nlohmann/json.hpp"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using Accesses = std::vector<Access>;

constexpr uint64_t kBlocks = 4000;

Accesses accesses_of(std::initializer_list<uint64_t> keys) {
  Accesses accesses;
  for (const uint64_t key : keys) accesses.push_back({.key = key, .size_bytes = 100});
  return accesses;
}

// A loop over more keys than fit, among keys of a skewed popularity.
Accesses mixed_accesses() {
  Prng random(6);
  Accesses accesses;
  for (uint64_t i = 0; i < 200'000; ++i) {
    const double unit = random.unit();
    const bool loop = i % 4 == 0;
    accesses.push_back({.key = loop ? 1'000'000 + i / 4 % (2 * kBlocks)
                                    : static_cast<uint64_t>(unit * unit * unit * 10 * kBlocks)});
  }
  return accesses;
}

TEST(LruKeys, HitsWhatWasUsedLately) {
  LruKeys lru(2);
  std::vector<bool> hits;
  for (const uint64_t key : {1, 2, 1, 3, 1, 2}) hits.push_back(lru.lookup(key));
  EXPECT_EQ(hits, (std::vector<bool>{false, false, true, false, true, false}));
  LruKeys none(0);
  EXPECT_FALSE(none.lookup(1));
  EXPECT_FALSE(none.lookup(1));
}

TEST(Replay, TheOptimumKnowsTheFuture) {
  // With room for two: 1 and 2 stay, 3 and 4 never come again.
  const ReplayResult result = replay_optimal(accesses_of({1, 3, 2, 4, 1, 2, 1, 2}), 2);
  EXPECT_EQ(result.hits, 4u);
  EXPECT_EQ(result.inserts, 2u);
  EXPECT_EQ(result.written_bytes, 200u);
  EXPECT_EQ(result.lookups, 8u);
  // 3 is used again before 1 is: it takes 2's place, which is used last.
  EXPECT_EQ(replay_optimal(accesses_of({1, 2, 3, 3, 1, 2}), 2).hits, 2u);
  EXPECT_EQ(replay_optimal({}, 2).hit_ratio(), 0);
}

TEST(Replay, CountsTheHitsOfTheRealCache) {
  Accesses accesses;
  for (int round = 0; round < 3; ++round) {
    for (uint64_t key = 0; key < 1000; ++key) {
      accesses.push_back({.key = key * 977, .size_bytes = 1000});
    }
  }
  for (const char* spec : {"always+lru", "nvcache://?admission=always&eviction=lru"}) {
    const auto cache = TierReplay::open(spec, 2000);
    ASSERT_TRUE(cache.ok()) << cache.status();
    ASSERT_TRUE((*cache)->run(accesses).ok());
    EXPECT_EQ((*cache)->result().hits, 2000u);
    EXPECT_EQ((*cache)->result().inserts, 1000u);
    EXPECT_EQ((*cache)->result().written_bytes, 1'000'000u);
  }
}

TEST(Replay, NoPolicyHitsMoreThanTheOptimum) {
  const Accesses accesses = mixed_accesses();
  const ReplayResult best = replay_optimal(accesses, kBlocks);
  EXPECT_GT(best.hit_ratio(), 0.3);
  for (const char* spec : {"obp(0.1)+lru", "always+tinylfu", "always+s3fifo", "always+lru"}) {
    const auto cache = TierReplay::open(spec, kBlocks);
    ASSERT_TRUE(cache.ok()) << cache.status();
    ASSERT_TRUE((*cache)->run(accesses).ok());
    // The real cache has room for a few blocks more than kBlocks, by its rounding.
    EXPECT_LT((*cache)->result().hits, best.hits * 102 / 100) << spec;
    EXPECT_GT((*cache)->result().hit_ratio(), 0.1) << spec;
  }
}

// Blocks that are written again are writes, too: they buy hits.
TEST(Replay, RegionsCountWhatTheyWriteAgain) {
  Accesses accesses = mixed_accesses();
  for (Access& access : accesses) access.size_bytes = 4096;
  const auto replayed = [&](const std::string& rewrite) {
    const auto cache = TierReplay::open(
        "space=regions&region=64KiB&admission=always&eviction=tinylfu&rewrite=" + rewrite, kBlocks,
        4096);
    EXPECT_TRUE(cache.ok()) << cache.status();
    EXPECT_TRUE((*cache)->run(accesses).ok());
    return (*cache)->result();
  };
  const ReplayResult log = replayed("0");
  const ReplayResult kept = replayed("0.5");
  EXPECT_GT(kept.hits, log.hits);
  EXPECT_EQ(kept.written_bytes, kept.inserts * 4096);
  EXPECT_EQ(log.written_bytes, log.inserts * 4096);
  EXPECT_LE(log.inserts + log.hits, log.lookups);
}

TEST(ReplayTrace, IsTheSameOnAnyNumberOfThreadsAndInOnePass) {
  const TempDir dir;
  const std::string path = dir.file("keys.txt");
  {
    std::ofstream file(path);
    for (const Access& access : mixed_accesses()) file << access.key << "\n";
  }
  const auto size = [](const std::string& text) { return *parse_replay_size("--tier", text); };
  ReplayPlan plan{.specs = {"always+lru", "always+s3fifo", "optimal"},
                  .tiers = {size("10%"), size("900")},
                  .dram = size("5%"),
                  .trace = {}};
  const auto none = [](std::string_view, double) {};
  const auto one = replay_trace(path, plan, none);
  plan.threads = 3;
  const auto three = replay_trace(path, plan, none);
  ASSERT_TRUE(one.ok() && three.ok()) << one.status() << three.status();
  EXPECT_EQ(one->accesses, 200'000u);
  EXPECT_GT(one->distinct, kBlocks);
  EXPECT_EQ(one->tier_blocks, (std::vector<uint64_t>{(one->distinct + 5) / 10, 900}));
  // The tiers saw what an LRU cache of 5% misses.
  LruKeys dram(one->dram_blocks);
  uint64_t misses = 0;
  for (const Access& access : mixed_accesses()) misses += dram.lookup(access.key) ? 0 : 1;
  EXPECT_EQ(one->lookups, misses);
  for (size_t row = 0; row < plan.specs.size(); ++row) {
    for (size_t column = 0; column < plan.tiers.size(); ++column) {
      EXPECT_EQ(one->rows[row][column].lookups, misses);
      EXPECT_EQ(one->rows[row][column].hits, three->rows[row][column].hits);
    }
  }
  EXPECT_GT(one->rows[1][0].hits, 0u);
  EXPECT_GT(one->rows[2][0].hits, one->rows[0][0].hits);

  // In blocks, it needs no pass that counts.
  plan.dram = size(std::to_string(one->dram_blocks));
  plan.tiers = {size(std::to_string(one->tier_blocks[0]))};
  const auto in_blocks = replay_trace(path, plan, none);
  ASSERT_TRUE(in_blocks.ok()) << in_blocks.status();
  EXPECT_EQ(in_blocks->distinct, 0u);
  EXPECT_EQ(in_blocks->rows[1][0].hits, one->rows[1][0].hits);

  const auto document = replay_json({*one, *three}, plan);
  EXPECT_EQ(document["kind"], "replay");
  EXPECT_EQ(document["traces"].size(), 2u);
}

TEST(ReplaySize, IsAShareOrANumberOfBlocks) {
  EXPECT_EQ(parse_replay_size("--tier", "5%")->blocks_of(1000), 50u);
  EXPECT_EQ(parse_replay_size("--tier", "0.05%")->blocks_of(1000), 1u);
  EXPECT_EQ(parse_replay_size("--tier", "70")->blocks_of(1000), 70u);
  for (const char* bad : {"", "%", "5.5", "101%", "-1", "x"}) {
    EXPECT_EQ(parse_replay_size("--tier", bad).status().code(), StatusCode::kInvalidArgument)
        << bad;
  }
}

}  // namespace
}  // namespace nvcache
