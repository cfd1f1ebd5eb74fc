// The learning that the shards of a cache share: from when on, and of how large a cache.
#include "policy/learning/shared_learning.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/prng.h"

namespace nvcache {
namespace {

constexpr double kInsertCost = 0.2;
constexpr uint64_t kAllKeys = ~uint64_t{0};

TEST(SharedLearning, SamplesFewerKeysAsTheCacheGrows) {
  SharedLearning learning;
  EXPECT_EQ(learning.highest_sampled(), kAllKeys);
  uint64_t before = kAllKeys;
  for (int shard = 0; shard < 4; ++shard) {
    learning.add_blocks(50'000);
    EXPECT_LT(learning.highest_sampled(), before);
    before = learning.highest_sampled();
  }
  learning.note_contest();
  learning.follow_size(kInsertCost);
  EXPECT_EQ(learning.highest_sampled(), before) << "as many as before it began";
  learning.add_blocks(1000);
  learning.follow_size(kInsertCost);
  EXPECT_EQ(learning.highest_sampled(), before) << "a few blocks more change nothing";
  learning.add_blocks(300'000);
  learning.follow_size(kInsertCost);
  EXPECT_LT(learning.highest_sampled(), before) << "it begins anew";
}

TEST(SharedLearning, WatchesAsTheCacheFillsAndLearnsMoreWhenItIsFull) {
  SharedLearning learning;
  const uint64_t idle = learning.metadata_bytes();
  learning.follow_size(kInsertCost);
  EXPECT_EQ(learning.metadata_bytes(), idle) << "of no blocks there is nothing to learn";
  learning.add_blocks(100'000);
  EXPECT_EQ(learning.metadata_bytes(), idle);
  learning.follow_size(kInsertCost);
  EXPECT_GT(learning.metadata_bytes(), idle);
  EXPECT_LE(learning.metadata_bytes(), idle + (9u << 10));
  learning.note_contest();
  learning.follow_size(kInsertCost);
  EXPECT_GT(learning.metadata_bytes(), idle + (16u << 10));
  EXPECT_LE(learning.metadata_bytes(), idle + (26u << 10));
}

TEST(SharedLearning, EachShardAnswersForItsShareOfTheMemory) {
  SharedLearning learning;
  learning.add_blocks(100'000);
  learning.note_contest();
  learning.follow_size(kInsertCost);
  const uint64_t alone = learning.metadata_bytes();
  for (int shard = 0; shard < 16; ++shard) learning.add_shard();
  EXPECT_EQ(learning.metadata_bytes(), alone / 16);
}

// Hits of one set, then offers of another: whichever shards tell of them.
TEST(SharedLearning, AllShardsSeeAPhaseThatNoneSeesAlone) {
  constexpr uint64_t kCacheBlocks = 10'000;
  SharedLearning learning;
  learning.add_blocks(kCacheBlocks);
  learning.note_contest();
  learning.follow_size(kInsertCost);
  Prng random(5);
  const auto use = [&](uint64_t first, bool hit, uint64_t times) {
    for (uint64_t i = 0; i < times; ++i) {
      const SampledUse of = {.key_hash = mix64(first + random.below(kCacheBlocks / 2)), .hit = hit};
      learning.use({&of, 1});
    }
  };
  use(0, true, 20 * kCacheBlocks);
  EXPECT_EQ(learning.phases(), 0u);
  use(1'000'000, false, kCacheBlocks);
  EXPECT_EQ(learning.phases(), 1u);
}

TEST(SharedLearning, ACacheThatFillsIsInNoPhase) {
  constexpr uint64_t kCacheBlocks = 10'000;
  SharedLearning learning;
  Prng random(5);
  for (uint64_t i = 0; i < 20 * kCacheBlocks; ++i) {
    if (i % 20 == 0) learning.add_blocks(1);
    learning.follow_size(kInsertCost);
    const SampledUse offer = {.key_hash = mix64(random.below(kCacheBlocks / 2)), .hit = false};
    learning.use({&offer, 1});
  }
  EXPECT_EQ(learning.phases(), 0u);
}

// Threads lose some uses to each other, and nothing else.
TEST(SharedLearning, ThreadsShareIt) {
  SharedLearning learning;
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&learning, thread] {
      Prng random(thread);
      learning.add_shard();
      std::vector<SampledUse> uses(SharedLearning::kMostTogether);
      for (int i = 0; i < 2000; ++i) {
        learning.add_blocks(10);
        if (i == 1000) learning.note_contest();
        learning.follow_size(kInsertCost);
        for (SampledUse& use : uses) use = {.key_hash = random(), .hit = i % 2 == 0};
        learning.use(uses);
        EXPECT_GT(learning.settings().half_life, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(learning.highest_sampled(), kAllKeys);
}

}  // namespace
}  // namespace nvcache
