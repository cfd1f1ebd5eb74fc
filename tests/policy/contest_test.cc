// The promises of every policy with a contest for room, whatever it counts.
#include <gtest/gtest.h>

#include <string>

#include "base/prng.h"
#include "nvcache/eviction_policy.h"
#include "support/fake_shard.h"

namespace nvcache {
namespace {

class ContestTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Policies, ContestTest, ::testing::Values("tinylfu", "auto"),
                         [](const auto& row) { return std::string(row.param); });

TEST_P(ContestTest, AnEmptyShardRefusesNothing) {
  FakeShard shard(GetParam(), 5);
  EXPECT_TRUE(shard.contest().outranks_victim(mix64(1), shard));
}

TEST_P(ContestTest, AnEvictedBlockKeepsItsRecord) {
  FakeShard shard(GetParam(), 5);
  for (uint64_t key = 0; key < 5; ++key) shard.insert(key);
  for (int hits = 0; hits < 8; ++hits) {
    for (uint64_t key = 0; key < 5; ++key) shard.hit(key);
  }
  const uint64_t evicted = shard.evict().value();
  shard.insert(100);  // never hit
  EXPECT_TRUE(shard.contest().outranks_victim(mix64(evicted), shard));
}

TEST_P(ContestTest, TheVictimIsTheOneThatWasCompared) {
  FakeShard shard(GetParam(), 5);
  for (uint64_t key = 0; key < 5; ++key) {
    shard.insert(key);
    for (uint64_t hits = 0; hits < 4 * (4 - key); ++hits) shard.hit(key);
  }
  for (int offers = 0; offers < 4; ++offers) shard.contest().offer(mix64(1000));
  ASSERT_TRUE(shard.contest().outranks_victim(mix64(1000), shard));
  EXPECT_EQ(shard.evict(), 4u);
  EXPECT_EQ(shard.evict(), 3u);
}

}  // namespace
}  // namespace nvcache
