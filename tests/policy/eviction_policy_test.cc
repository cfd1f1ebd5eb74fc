// The blocks that each eviction policy prefers to evict.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <vector>

#include "base/prng.h"
#include "support/fake_shard.h"

namespace nvcache {
namespace {

std::vector<uint64_t> evict_all(FakeShard& shard) {
  std::vector<uint64_t> order;
  while (const auto key = shard.evict()) order.push_back(*key);
  return order;
}

TEST(LruPolicy, EvictsTheLeastRecentlyUsedFirst) {
  FakeShard shard("lru", 10);
  shard.insert('a');
  shard.insert('b');
  shard.insert('c');
  shard.hit('a');
  EXPECT_EQ(evict_all(shard), (std::vector<uint64_t>{'b', 'c', 'a'}));
}

// At most one hit between two insertions, so that the order has no ties. 100,000 insertions go
// three times around the 2^15 ticks of a stamp.
TEST(LruPolicy, AgreesWithAListInSmallShards) {
  const uint64_t seed = 42;
  RecordProperty("seed", static_cast<int>(seed));
  Prng prng(seed);
  FakeShard shard("lru", 500);
  std::list<uint64_t> by_age;  // oldest first
  for (uint64_t key = 1; key <= 100'000; ++key) {
    if (shard.size() == 500) {
      ASSERT_EQ(shard.evict(), by_age.front()) << "at key " << key;
      by_age.pop_front();
    }
    shard.insert(key);
    by_age.push_back(key);
    const uint64_t used = key - prng.below(std::min<uint64_t>(key, 400));
    if (prng.below(2) == 0 && shard.contains(used)) {
      shard.hit(used);
      by_age.remove(used);
      by_age.push_back(used);
    }
  }
}

TEST(LruPolicy, EvictsOldBlocksInLargeShards) {
  constexpr uint64_t kBlocks = 200'000;
  FakeShard shard("lru", kBlocks);
  for (uint64_t key = 0; key < kBlocks; ++key) shard.insert(key);
  for (uint64_t key = 0; key < kBlocks / 2; ++key) shard.hit(key);
  for (int i = 0; i < 3000; ++i) {
    const auto key = shard.evict();
    ASSERT_TRUE(key);
    EXPECT_GE(*key, kBlocks / 2) << "it was hit";
    EXPECT_LE(*key, kBlocks / 2 + kBlocks / 20) << "of the older ones the oldest tenth";
  }
}

TEST(LruPolicy, ABlockPinnedUntilItsAgeWrapsStillLeavesLater) {
  FakeShard shard("lru", 10);
  shard.insert(0);
  shard.pin(0);
  for (uint64_t key = 1; key < 40'000; ++key) {
    if (shard.size() == 10) {
      ASSERT_TRUE(shard.evict());
    }
    shard.insert(key);
  }
  shard.unpin(0);
  for (uint64_t key = 40'000; key < 80'000 && shard.contains(0); ++key) {
    ASSERT_TRUE(shard.evict());
    shard.insert(key);
  }
  EXPECT_FALSE(shard.contains(0));
}

TEST(ClockPolicy, SparesABlockAsOftenAsItWasHitUpToThreeTimes) {
  FakeShard shard("clock", 10);
  for (uint64_t key = 0; key < 4; ++key) shard.insert(key);
  for (int i = 0; i < 100; ++i) shard.hit(0);
  for (int i = 0; i < 2; ++i) shard.hit(1);
  shard.hit(2);
  EXPECT_EQ(evict_all(shard), (std::vector<uint64_t>{3, 2, 1, 0}));
}

TEST(ClockPolicy, ANewBlockHasAWholeRoundToBeHit) {
  FakeShard shard("clock", 4);
  for (uint64_t key = 0; key < 4; ++key) shard.insert(key);
  EXPECT_EQ(shard.evict(), 0u);
  shard.insert(4);
  EXPECT_EQ(shard.evict(), 1u);
  EXPECT_EQ(shard.evict(), 2u);
  EXPECT_EQ(shard.evict(), 3u);
  EXPECT_EQ(shard.evict(), 4u);
}

std::vector<uint64_t> pass(FakeShard& shard, double share) {
  shard.begin_pass(share);
  std::vector<uint64_t> victims;
  while (const auto slot = shard.policy().next_victim(shard)) {
    victims.push_back(shard.key_of(*slot));
  }
  return victims;
}

TEST(LfruPolicy, TakesOnlyBlocksNotUsedWithinTheWindow) {
  FakeShard shard("lfru(10)", 100);
  for (uint64_t key = 0; key < 100; ++key) shard.insert(key);
  shard.advance_seconds(9);
  EXPECT_TRUE(pass(shard, 1).empty()) << "all were used within the window";
  for (uint64_t key = 0; key < 90; ++key) shard.hit(key);
  shard.advance_seconds(2);
  EXPECT_EQ(pass(shard, 1), (std::vector<uint64_t>{90, 91, 92, 93, 94, 95, 96, 97, 98, 99}));
}

TEST(LfruPolicy, TakesTheLeastFrequentlyUsedAndNoMoreThanAsked) {
  FakeShard shard("lfru(1000)", 100);
  for (uint64_t key = 0; key < 100; ++key) {
    shard.insert(key);
    for (uint64_t i = 0; i < key % 10 * 4; ++i) shard.hit(key);
  }
  shard.advance_seconds(1100);
  const std::vector<uint64_t> victims = pass(shard, 0.15);
  ASSERT_EQ(victims.size(), 15u);
  for (const uint64_t key : victims) EXPECT_LE(key % 10, 1u) << key;
  EXPECT_EQ(std::count_if(victims.begin(), victims.end(), [](uint64_t k) { return k % 10 == 0; }),
            10);
}

TEST(LfruPolicy, ForgetsFrequencyWindowByWindow) {
  FakeShard shard("lfru(1)", 10);
  shard.insert(0);
  for (int i = 0; i < 200; ++i) shard.hit(0);
  for (int i = 0; i < 10; ++i) {  // 200 halved ten times: less than 3
    shard.advance_seconds(1);
    shard.begin_pass(0);
  }
  shard.insert(1);
  for (int i = 0; i < 5; ++i) shard.hit(1);
  shard.advance_seconds(1.2);
  EXPECT_EQ(pass(shard, 0.5), (std::vector<uint64_t>{0}));
}

TEST(LfruPolicy, BlocksIdleForAgesStayTargets) {
  FakeShard shard("lfru(1)", 10);
  shard.insert(0);
  for (int i = 0; i < 1000; ++i) {  // 16,000 ticks: 8 bits would wrap 62 times
    shard.advance_seconds(1);
    shard.begin_pass(0);
    if (i > 2) {
      ASSERT_EQ(pass(shard, 1).size(), 1u) << i;
    }
  }
  shard.advance_seconds(1e6);
  EXPECT_EQ(pass(shard, 1).size(), 1u) << "one long pause changes nothing";
}

TEST(LfruPolicy, EvictsOnlyInPasses) {
  FakeShard shard("lfru", 10);
  EXPECT_NE(shard.policy().passes(), nullptr);
  shard.insert(0);
  EXPECT_EQ(shard.policy().next_victim(shard), std::nullopt);
  shard.advance_seconds(100);
  EXPECT_TRUE(pass(shard, 0).empty()) << "no block has to leave";
  EXPECT_EQ(pass(shard, 1).size(), 1u);
  EXPECT_EQ(shard.policy().next_victim(shard), std::nullopt) << "the pass is over";
}

TEST(LfruPolicy, ABlockUsedDuringThePassIsSpared) {
  FakeShard shard("lfru(1)", 10);
  for (uint64_t key = 0; key < 10; ++key) shard.insert(key);
  shard.advance_seconds(5);
  shard.begin_pass(1);
  shard.hit(3);
  std::vector<uint64_t> victims;
  while (const auto key = shard.evict()) {
    victims.push_back(*key);
    if (shard.size() == 1) break;
  }
  EXPECT_EQ(victims.size(), 9u);
  EXPECT_TRUE(shard.contains(3));
}

TEST(S3FifoPolicy, BlocksNeverHitLeaveBeforeBlocksHitOnce) {
  FakeShard shard("s3fifo", 1000);
  for (uint64_t key = 0; key < 1000; ++key) shard.insert(key);
  for (uint64_t key = 0; key < 1000; key += 2) shard.hit(key);
  for (int i = 0; i < 450; ++i) {
    const auto key = shard.evict();
    ASSERT_TRUE(key);
    EXPECT_EQ(*key % 2, 1u) << *key;
  }
}

TEST(S3FifoPolicy, ABlockThatComesBackSoonIsKept) {
  FakeShard shard("s3fifo", 1001);
  for (uint64_t key = 0; key < 1000; ++key) shard.insert(key);
  std::vector<uint64_t> evicted;
  for (uint64_t key = 1000; key < 1100; ++key) {
    evicted.push_back(shard.evict().value());
    shard.insert(key);
  }
  const uint64_t back = evicted.back();
  ASSERT_TRUE(shard.evict());
  shard.insert(back);
  for (uint64_t key = 2000; key < 2500; ++key) {  // a scan of half the cache
    ASSERT_TRUE(shard.evict());
    shard.insert(key);
  }
  EXPECT_TRUE(shard.contains(back));
}

TEST(S3FifoPolicy, ErasedBlocksLeaveNoTrailBehind) {
  FakeShard shard("s3fifo", 1000);
  for (uint64_t key = 0; key < 100'000; ++key) {
    shard.insert(key);
    if (key >= 100) shard.erase(key - 100);
  }
  for (uint64_t key = 200'000; key < 300'000; ++key) {  // the newest, from the queue's end
    shard.insert(key);
    shard.erase(key);
  }
  EXPECT_EQ(shard.size(), 100u);
  EXPECT_LE(shard.policy().metadata_bytes(), 101u + 2048u + 100u * sizeof(uint64_t));
  ASSERT_TRUE(shard.evict());
}

TEST(NonePolicy, EvictsNothing) {
  FakeShard shard("none", 10);
  for (uint64_t key = 0; key < 10; ++key) shard.insert(key);
  EXPECT_EQ(shard.evict(), std::nullopt);
  EXPECT_EQ(shard.policy().passes(), nullptr);
}

}  // namespace
}  // namespace nvcache
