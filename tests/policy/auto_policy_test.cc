// eviction=auto: what enters, what leaves, and how it follows what the uses are like.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/prng.h"
#include "policy/learning/shared_learning.h"
#include "policy/learning/use_score.h"
#include "support/fake_shard.h"

namespace nvcache {
namespace {

// A lookup, and after a miss an offer. Whether it hit.
bool look_up(FakeShard& shard, uint64_t key, uint64_t blocks, uint64_t* inserts = nullptr) {
  if (shard.contains(key)) {
    shard.hit(key);
    return true;
  }
  Contest* const contest = shard.policy().contest();
  if (contest != nullptr) contest->offer(mix64(key));
  if (shard.size() == blocks) {
    if (contest != nullptr && !contest->outranks_victim(mix64(key), shard)) return false;
    shard.evict();
  }
  shard.insert(key);
  if (inserts != nullptr) ++*inserts;
  return false;
}

template <typename Next>
double hit_ratio(FakeShard& shard, uint64_t blocks, uint64_t lookups, Next&& next,
                 uint64_t* inserts = nullptr) {
  uint64_t hits = 0;
  for (uint64_t i = 0; i < lookups; ++i) hits += look_up(shard, next(i), blocks, inserts) ? 1 : 0;
  return static_cast<double>(hits) / static_cast<double>(lookups);
}

TEST(AutoPolicy, OnlyABetterRecordOutranksTheVictim) {
  FakeShard shard("auto", 100);
  for (uint64_t key = 0; key < 100; ++key) shard.insert(key);
  for (const uint64_t key : {500, 501}) ASSERT_FALSE(look_up(shard, key, 100)) << "it is full";
  for (uint64_t key = 0; key < 100; ++key) {
    for (int hits = 0; hits < 3; ++hits) shard.hit(key);
  }
  int offers = 0;
  do {
    shard.contest().offer(mix64(1000));
    ASSERT_LT(++offers, 20);
  } while (!shard.contest().outranks_victim(mix64(1000), shard));
  EXPECT_GT(offers, 4) << "as many uses as the others have are not enough";
}

TEST(AutoPolicy, AScanTakesLittle) {
  constexpr uint64_t kBlocks = 5000;
  FakeShard shard("auto", kBlocks);
  Prng random(1);
  const auto hot = [&](uint64_t) { return random.below(kBlocks * 8 / 10); };
  hit_ratio(shard, kBlocks, 20 * kBlocks, hot);
  hit_ratio(shard, kBlocks, 2 * kBlocks, [](uint64_t i) { return 1'000'000 + i; });
  EXPECT_GT(hit_ratio(shard, kBlocks, kBlocks, hot), 0.8);
}

// Keys of a skewed popularity and as many that never come again: most of what is offered is not
// worth a write.
TEST(AutoPolicy, WritesLittleOfWhatNeverComesAgain) {
  constexpr uint64_t kBlocks = 5000;
  for (uint64_t seed = 2; seed < 10; ++seed) {
    uint64_t inserts = 0;
    FakeShard shard("auto", kBlocks);
    Prng random(seed);
    const auto mixed = [&](uint64_t i) {
      if (i % 2 == 0) return 1'000'000 + i;
      const double unit = random.unit();
      return static_cast<uint64_t>(unit * unit * unit * 8 * kBlocks);
    };
    hit_ratio(shard, kBlocks, 20 * kBlocks, mixed);
    // The kBlocks most popular keys get half of the lookups that are not of new ones.
    EXPECT_GT(hit_ratio(shard, kBlocks, 20 * kBlocks, mixed, &inserts), 0.2) << seed;
    EXPECT_LT(inserts, kBlocks) << seed << ", of " << 20 * kBlocks << " lookups";
  }
}

// The shards of one cache of `blocks` blocks.
class Shards {
 public:
  Shards(const std::string& spec, uint64_t shards, uint64_t blocks)
      : learning_(std::make_shared<SharedLearning>()), blocks_(blocks / shards) {
    const auto slots = static_cast<uint32_t>(blocks_);
    for (uint64_t i = 0; i < shards; ++i) {
      shards_.push_back(std::make_unique<FakeShard>(
          spec, EvictionContext{.max_slots = slots, .learning = learning_}));
    }
  }

  template <typename Next>
  double hit_ratio(uint64_t lookups, Next&& next) {
    uint64_t hits = 0;
    for (uint64_t i = 0; i < lookups; ++i) {
      const uint64_t key = next(i);
      hits += look_up(*shards_[mix64(key + 1) % shards_.size()], key, blocks_) ? 1 : 0;
    }
    return static_cast<double>(hits) / static_cast<double>(lookups);
  }

 private:
  const std::shared_ptr<SharedLearning> learning_;
  const uint64_t blocks_;  // of each
  std::vector<std::unique_ptr<FakeShard>> shards_;
};

// Draws a key; none of one phase is one of the next.
using Draw = std::function<uint64_t(Prng&)>;

struct Before {
  double keys = 1.2;     // for each block of the cache, that had come
  uint64_t lookups = 1;  // for each block, since other keys come
};

// The hit ratio in as many lookups as there are blocks, after another phase; the mean of a few
// seeds.
double followed(const std::string& spec, uint64_t shards, uint64_t blocks, const Draw& draw,
                const Before& before = {}) {
  const uint64_t seeds = blocks < 20'000 ? 4 : 1;
  const auto keys_before = static_cast<uint64_t>(before.keys * static_cast<double>(blocks));
  double sum = 0;
  for (uint64_t seed = 3; seed < 3 + seeds; ++seed) {
    Shards cache(spec, shards, blocks);
    Prng random(seed);
    cache.hit_ratio(20 * blocks,
                    [&](uint64_t) { return 1'000'000'000 + random.below(keys_before); });
    const auto next = [&](uint64_t) { return draw(random); };
    cache.hit_ratio(before.lookups * blocks, next);
    sum += cache.hit_ratio(blocks, next);
  }
  return sum / static_cast<double>(seeds);
}

Draw uniform(uint64_t blocks) {
  return [blocks](Prng& random) { return random.below(blocks * 8 / 10); };
}
Draw skewed(uint64_t blocks) {
  return [blocks](Prng& random) {
    const double unit = random.unit();
    return static_cast<uint64_t>(unit * unit * unit * 4 * static_cast<double>(blocks));
  };
}

// As many lookups as the cache has blocks are enough to hit 0.85 times as much as one that admits
// all; 0.75 times in a small cache. The cache's shards see the phase together.
TEST(AutoPolicy, FollowsANewPhase) {
  struct Case {
    uint64_t shards;
    uint64_t blocks;
    double bound;
  };
  for (const auto& [shards, blocks, bound] : std::initializer_list<Case>{{1, 300, 0.75},
                                                                         {1, 1000, 0.8},
                                                                         {16, 1000, 0.8},
                                                                         {1, 5000, 0.8},
                                                                         {16, 5000, 0.8},
                                                                         {1, 25'000, 0.85},
                                                                         {16, 25'000, 0.85},
                                                                         {1, 100'000, 0.85},
                                                                         {16, 100'000, 0.85}}) {
    SCOPED_TRACE(testing::Message() << blocks << " blocks in " << shards << " shards");
    for (const Draw& draw : {uniform(blocks), skewed(blocks)}) {
      EXPECT_GT(followed("auto", shards, blocks, draw),
                bound * followed("lru", shards, blocks, draw));
    }
  }
}

// A cache that the phase before had not filled: no block had ever to be better than another. If it
// was nearly full, it follows as one that was full. If a part of it was free, the new keys are hit
// there at once, so it is not seen that others would be hit as well: that takes three times as many
// lookups.
TEST(AutoPolicy, FollowsANewPhaseWhereThereWasRoom) {
  struct Case {
    Before before;
    double bound;
  };
  for (const auto& [before, bound] :
       std::initializer_list<Case>{{{.keys = 0.95, .lookups = 1}, 0.7},
                                   {{.keys = 0.8, .lookups = 1}, 0.5},
                                   {{.keys = 0.8, .lookups = 3}, 0.65},
                                   {{.keys = 0.5, .lookups = 1}, 0.65},
                                   {{.keys = 0.5, .lookups = 3}, 0.65}}) {
    for (const uint64_t shards : {1, 16}) {
      for (const uint64_t blocks : {1000, 20'000}) {
        SCOPED_TRACE(testing::Message() << before.keys << " of " << blocks << " blocks in "
                                        << shards << " shards, " << before.lookups);
        for (const Draw& draw : {uniform(blocks), skewed(blocks)}) {
          EXPECT_GT(followed("auto", shards, blocks, draw, before),
                    bound * followed("lru", shards, blocks, draw, before));
        }
      }
    }
  }
}

// Blocks that came back after a restart, and that nobody wants any more.
TEST(AutoPolicy, FollowsANewPhaseAfterARestart) {
  for (const uint64_t blocks : {1000, 20'000}) {
    FakeShard shard("auto", static_cast<uint32_t>(blocks));
    for (uint64_t key = 0; key < blocks; ++key) shard.insert(1'000'000'000 + key);
    Prng random(6);
    const auto next = [&, draw = uniform(blocks)](uint64_t) { return draw(random); };
    hit_ratio(shard, blocks, blocks, next);
    EXPECT_GT(hit_ratio(shard, blocks, blocks, next), 0.5) << blocks;
  }
}

// Blocks that come a few times and never again, as a backup's that is checked, or a compaction's:
// where they are a small part, the cache keeps what it has.
TEST(AutoPolicy, AFewScansOfLittleTakeLittle) {
  constexpr uint64_t kBlocks = 20'000;
  const auto run = [&](uint64_t passes, uint64_t* inserts) {
    FakeShard shard("auto", kBlocks);
    Prng random(2);
    const auto popular = [&](uint64_t) {
      const double unit = random.unit();
      return static_cast<uint64_t>(unit * unit * unit * 8 * kBlocks);
    };
    double hits = 0;
    for (uint64_t round = 0; round < 15; ++round) {
      if (round == 5) hits = static_cast<double>(*inserts = 0);
      hits += hit_ratio(shard, kBlocks, 5 * kBlocks, popular, inserts);
      const uint64_t length = kBlocks / 20;
      hit_ratio(
          shard, kBlocks, passes * length,
          [&](uint64_t i) { return 1'000'000'000 + round * length + i % length; }, inserts);
    }
    return hits / 10;
  };
  uint64_t inserts = 0;
  const double undisturbed = run(0, &inserts);
  for (const uint64_t passes : {2, 3, 4}) {
    EXPECT_GT(run(passes, &inserts), undisturbed - 0.01) << passes;
    EXPECT_LT(inserts, 2 * kBlocks) << passes << ", of " << 50 * kBlocks << " lookups";
  }
}

TEST(AutoPolicy, FollowsANewWorkingSet) {
  constexpr uint64_t kBlocks = 20'000;
  FakeShard shard("auto", kBlocks);
  Prng random(3);
  uint64_t first = 0;
  const auto of_set = [&](uint64_t) { return first + random.below(kBlocks * 8 / 10); };
  EXPECT_GT(hit_ratio(shard, kBlocks, 30 * kBlocks, of_set), 0.9);
  first = 1'000'000;
  uint64_t rounds = 0;
  while (hit_ratio(shard, kBlocks, kBlocks, of_set) < 0.9) ASSERT_LT(++rounds, 20u);
  RecordProperty("lookups_for_each_block", static_cast<int>(rounds));
  EXPECT_LE(rounds, 4u);
}

// A part of the keys comes back soon, and then never again: what was used last is worth most.
TEST(AutoPolicy, FollowsUsesThatMoveOn) {
  constexpr uint64_t kBlocks = 10'000;
  const auto moving = [](Prng& random, uint64_t i) { return i / 4 + random.below(kBlocks / 2); };
  const auto ratio_of = [&](const std::string& spec) {
    FakeShard shard(spec, kBlocks);
    Prng random(4);
    const auto next = [&](uint64_t i) { return moving(random, i); };
    hit_ratio(shard, kBlocks, 20 * kBlocks, next);
    return hit_ratio(shard, kBlocks, 20 * kBlocks,
                     [&](uint64_t i) { return next(i + 20 * kBlocks); });
  };
  FakeShard lru("lru", kBlocks);
  Prng random(4);
  uint64_t hits = 0;
  for (uint64_t i = 0; i < 40 * kBlocks; ++i) {
    const uint64_t key = moving(random, i);
    if (lru.contains(key)) {
      hits += i < 20 * kBlocks ? 0 : 1;
      lru.hit(key);
      continue;
    }
    if (lru.size() == kBlocks) lru.evict();
    lru.insert(key);
  }
  const double of_lru = static_cast<double>(hits) / (20 * kBlocks);
  EXPECT_GT(ratio_of("auto"), of_lru - 0.05);
}

}  // namespace
}  // namespace nvcache
