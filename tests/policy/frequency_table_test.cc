// The table of counts that tinylfu uses, and the policy itself.
#include "policy/parts/frequency_table.h"

#include <gtest/gtest.h>

#include "base/prng.h"
#include "support/block_cache_fixture.h"
#include "support/fake_shard.h"

namespace nvcache {
namespace {

using test::put;

TEST(FrequencyTable, CountsWhatItIsTold) {
  FrequencyTable table(1000);
  EXPECT_EQ(table.count(7), 0u);
  for (uint32_t n = 1; n <= 10; ++n) EXPECT_EQ(table.add(7), n);
  EXPECT_EQ(table.count(7), 10u);
  EXPECT_EQ(table.take(7), 10u);
  EXPECT_EQ(table.count(7), 0u);
  table.put(7, 5);
  EXPECT_EQ(table.count(7), 5u);
  table.put(7, 3);
  EXPECT_EQ(table.count(7), 5u) << "the higher count stays";
}

TEST(FrequencyTable, CountsStopAtTheHighest) {
  FrequencyTable table(1000);
  for (int n = 0; n < 1000; ++n) table.add(7);
  EXPECT_EQ(table.count(7), FrequencyTable::kMaxCount);
  table.put(8, 200);
  EXPECT_EQ(table.count(8), FrequencyTable::kMaxCount);
}

TEST(FrequencyTable, WhatComesOftenStaysWhenManyComeOnce) {
  FrequencyTable table(FrequencyTable::kMinEntries);
  for (uint64_t key = 0; key < 32; ++key) table.put(key, 40);
  for (uint64_t key = 1000; key < 3000; ++key) table.add(key);
  uint64_t kept = 0;
  for (uint64_t key = 0; key < 32; ++key) kept += table.count(key) >= 20 ? 1 : 0;
  EXPECT_GE(kept, 31u);
}

TEST(FrequencyTable, SeldomTakesAStrangerForAFriend) {
  FrequencyTable table(100'000);
  for (int i = 0; i < 20; ++i) table.follow(100'000);
  for (uint64_t key = 0; key < 50'000; ++key) table.put(key, 2);
  uint64_t mistaken = 0;
  for (uint64_t key = 1'000'000; key < 1'100'000; ++key) mistaken += table.count(key) > 0 ? 1 : 0;
  EXPECT_LT(mistaken, 1200u);  // 8 / 1023 of 100,000 is 782, if all entries are taken
}

TEST(FrequencyTable, GrowsWithoutForgettingUpToWhatWasReserved) {
  FrequencyTable table(1 << 16);
  EXPECT_EQ(table.entries(), FrequencyTable::kMinEntries);
  for (uint64_t key = 0; key < 100; ++key) table.put(key, 3);
  for (int i = 0; i < 50; ++i) table.follow(uint64_t{1} << 40);
  EXPECT_EQ(table.entries(), uint64_t{1} << 16);
  EXPECT_EQ(table.metadata_bytes(), uint64_t{2} << 16);
  for (uint64_t key = 0; key < 100; ++key) EXPECT_EQ(table.count(key), 3u) << key;
}

TEST(FrequencyTable, HalvesAPartAtATime) {
  FrequencyTable table(1000);
  for (uint64_t key = 0; key < 50; ++key) table.put(key, 9);
  table.put(50, 1);
  uint64_t bucket = 0;
  int calls = 1;
  while (table.halve(&bucket, 8)) ++calls;
  EXPECT_EQ(calls, 4);
  for (uint64_t key = 0; key < 50; ++key) EXPECT_EQ(table.count(key), 4u) << key;
  EXPECT_EQ(table.count(50), 0u);
}

TEST(TinyLfuPolicy, OnlyWhatWasOfferedMoreOftenOutranksTheVictim) {
  FakeShard shard("tinylfu", 100);
  for (uint64_t key = 0; key < 100; ++key) {
    shard.insert(key);
    for (int hits = 0; hits < 3; ++hits) shard.hit(key);
  }
  Contest& contest = shard.contest();
  for (int offers = 1; offers <= 4; ++offers) {
    contest.offer(mix64(1000));
    EXPECT_EQ(contest.outranks_victim(mix64(1000), shard), offers > 3) << offers;
  }
}

TEST(TinyLfuPolicy, OldUseFades) {
  FakeShard shard("tinylfu", 100);
  for (uint64_t key = 0; key < 100; ++key) {
    shard.insert(key);
    for (int hits = 0; hits < 200; ++hits) shard.hit(key);
  }
  // A new working set: its blocks are offered until one is admitted.
  uint64_t offers = 0;
  while (!shard.contest().outranks_victim(mix64(1000), shard)) {
    for (uint64_t key = 1000; key < 1050; ++key) shard.contest().offer(mix64(key));
    ASSERT_LT(++offers, 500u);
  }
}

// The refusal comes before the block is entered: a caller that asks admit() first need not build
// it.
TEST(TinyLfuPolicy, AFullCacheRefusesWhenItIsAsked) {
  const auto cache = test::open("nvcache://?size=1MiB&shards=1&admission=always&eviction=tinylfu");
  EXPECT_TRUE(cache->admit({2, 0}, 4096, Origin::kRead).admitted()) << "there is room";
  for (uint64_t id = 0; id < 256; ++id) put(*cache, {1, id}, 4096);
  for (int hits = 0; hits < 4; ++hits) {
    for (uint64_t id = 0; id < 256; ++id) EXPECT_TRUE(cache->lookup({1, id}).hit());
  }
  for (int offers = 1; offers <= 8; ++offers) {
    const Verdict verdict = cache->admit({2, 1}, 4096, Origin::kRead).verdict();
    if (verdict.admitted()) {
      EXPECT_GT(offers, 4);
      return;
    }
    EXPECT_EQ(verdict.reason, Reason::kLessUsed);
  }
  FAIL() << "offered more often than any block was asked for";
}

// Few blocks get more requests than many others: the cache ends up with the few, and writes little.
TEST(TinyLfuPolicy, ACacheKeepsWhatIsAskedForMostAndWritesLittle) {
  const auto run = [](const char* eviction) {
    const auto cache = test::open(
        std::string("nvcache://?size=4MiB&shards=1&admission=always&eviction=") + eviction);
    Prng random(11);
    for (int i = 0; i < 200'000; ++i) {
      const uint64_t id = random.below(4) > 0 ? random.below(800) : 1000 + random.below(20'000);
      if (!cache->lookup({1, id}).hit()) put(*cache, {1, id}, 4096);
    }
    return cache->stats();
  };
  const Stats lru = run("lru");
  const Stats frequent = run("tinylfu");
  EXPECT_GT(frequent.hits, lru.hits * 5 / 4) << "seed 11";
  EXPECT_LT(frequent.medium_written_bytes, lru.medium_written_bytes / 20);
  EXPECT_GT(frequent.refused[static_cast<size_t>(Reason::kLessUsed)], 0u);
}

}  // namespace
}  // namespace nvcache
