// The shapes of the key distributions against theory, and their growth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/prng.h"
#include "experiments/workload/key_chooser.h"
#include "experiments/workload/zipfian.h"

namespace nvcache {
namespace {

constexpr uint64_t kDrawSeed = 20260101;
constexpr int kDraws = 400'000;

std::vector<uint64_t> counts_by_popularity(KeyChooser& chooser, uint64_t seed, int draws) {
  Prng prng(seed);
  std::unordered_map<uint64_t, uint64_t> counts;
  for (int i = 0; i < draws; ++i) ++counts[chooser.next(prng)];
  std::vector<uint64_t> sorted;
  sorted.reserve(counts.size());
  for (const auto& [key, count] : counts) sorted.push_back(count);
  std::sort(sorted.rbegin(), sorted.rend());
  return sorted;
}

double share(uint64_t count) { return static_cast<double>(count) / kDraws; }

// Four standard deviations of a binomial share.
double tolerance(double p) { return 4 * std::sqrt(p * (1 - p) / kDraws); }

TEST(YcsbHash, IsFnv1aOverEightBytesWithoutSign) {
  // FNV-1a of eight zero bytes, offset basis 0xCBF29CE484222325: 0xA8C7F832281A39C5,
  // negative as a Java long, so Math.abs gives its two's complement.
  EXPECT_EQ(ycsb_hash(0), ~0xA8C7F832281A39C5ull + 1);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(ycsb_hash(i) >> 63, 0u) << i;
}

TEST(Zipfian, HeadSharesFollowTheory) {
  SCOPED_TRACE(kDrawSeed);
  constexpr uint64_t kItems = 10'000;
  const Zipfian zipfian(kItems);
  Prng prng(kDrawSeed);
  std::vector<uint64_t> counts(kItems);
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t item = zipfian.next(prng);
    ASSERT_LT(item, kItems);
    ++counts[item];
  }
  const double zetan = zeta(0, kItems, kYcsbTheta);
  EXPECT_NEAR(zipfian.zeta_of_items(), zetan, 1e-9);
  // Gray's formula is exact for the first two items and an approximation after them.
  for (uint64_t item : {0, 1}) {
    const double expected = 1.0 / std::pow(static_cast<double>(item + 1), kYcsbTheta) / zetan;
    EXPECT_NEAR(share(counts[item]), expected, tolerance(expected)) << item;
  }
  for (uint64_t head : {100u, 1000u}) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < head; ++i) sum += counts[i];
    EXPECT_NEAR(share(sum), zeta(0, head, kYcsbTheta) / zetan, 0.02) << head;
  }
}

TEST(Zipfian, GrowingGivesTheSameAsStartingLarge) {
  Zipfian grown(1000);
  grown.grow_to(5000);
  grown.grow_to(10);  // never shrinks
  const Zipfian large(5000);
  EXPECT_EQ(grown.items(), 5000u);
  EXPECT_NEAR(grown.zeta_of_items(), large.zeta_of_items(), 1e-9);
  Prng a(kDrawSeed), b(kDrawSeed);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(grown.next(a), large.next(b));
}

TEST(ScrambledZipfian, HottestRecordHasYcsbsShareAndHotRecordsAreSpread) {
  SCOPED_TRACE(kDrawSeed);
  KeySequence sequence(100'000);
  auto chooser = make_key_chooser(Distribution::kZipfian, sequence, 0);
  const auto counts = counts_by_popularity(*chooser, kDrawSeed, kDraws);
  // zeta is that of YCSB's 10^10 items, whatever the number of records is.
  const double hottest = 1.0 / 26.46902820178302;
  EXPECT_NEAR(share(counts[0]), hottest, tolerance(hottest) + 1e-4);
  const double second = hottest * std::pow(0.5, kYcsbTheta);
  EXPECT_NEAR(share(counts[1]), second, tolerance(second) + 1e-4);
  // The hottest record is where FNV puts rank 0, not record 0.
  Prng prng(kDrawSeed);
  int hits = 0;
  for (int i = 0; i < kDraws; ++i) hits += chooser->next(prng) == ycsb_hash(0) % 100'000;
  EXPECT_NEAR(share(hits), hottest, tolerance(hottest) + 1e-4);
}

TEST(ScrambledZipfian, NeverReturnsARecordThatDoesNotExistYet) {
  KeySequence sequence(1000);
  auto chooser = make_key_chooser(Distribution::kZipfian, sequence, 1000);
  Prng prng(kDrawSeed);
  uint64_t largest = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t number = chooser->next(prng);
    ASSERT_LT(number, 1000u);
  }
  for (int i = 0; i < 500; ++i) sequence.acknowledge(sequence.reserve());
  for (int i = 0; i < 20'000; ++i) largest = std::max(largest, chooser->next(prng));
  EXPECT_LT(largest, 1500u);
  EXPECT_GE(largest, 1000u);
}

TEST(Latest, NewestIsHottestAndMovesWithInserts) {
  SCOPED_TRACE(kDrawSeed);
  constexpr uint64_t kRecords = 10'000;
  KeySequence sequence(kRecords);
  auto chooser = make_key_chooser(Distribution::kLatest, sequence, 0);
  const double expected = 1.0 / zeta(0, kRecords, kYcsbTheta);
  for (int round = 0; round < 2; ++round) {
    Prng prng(kDrawSeed);
    int newest = 0;
    const uint64_t count = sequence.count();
    for (int i = 0; i < kDraws; ++i) {
      const uint64_t number = chooser->next(prng);
      ASSERT_LT(number, count);
      newest += number == count - 1;
    }
    EXPECT_NEAR(share(newest), expected, tolerance(expected) + 1e-3);
    for (int i = 0; i < 100; ++i) sequence.acknowledge(sequence.reserve());
  }
}

TEST(Uniform, EveryTenthGetsATenth) {
  KeySequence sequence(1000);
  auto chooser = make_key_chooser(Distribution::kUniform, sequence, 0);
  Prng prng(kDrawSeed);
  std::vector<int> tenths(10);
  for (int i = 0; i < kDraws; ++i) ++tenths[chooser->next(prng) / 100];
  for (int count : tenths) EXPECT_NEAR(share(count), 0.1, tolerance(0.1));
}

TEST(KeySequence, CountsARecordOnlyWhenAllBeforeItAreInserted) {
  KeySequence sequence(10);
  const uint64_t first = sequence.reserve();
  const uint64_t second = sequence.reserve();
  EXPECT_EQ(first, 10u);
  EXPECT_EQ(second, 11u);
  sequence.acknowledge(second);
  EXPECT_EQ(sequence.count(), 10u);
  sequence.acknowledge(first);
  EXPECT_EQ(sequence.count(), 12u);
}

TEST(KeySequence, ManyThreads) {
  KeySequence sequence(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) sequence.acknowledge(sequence.reserve());
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sequence.count(), 20'000u);
}

TEST(Distribution, NamesRoundTripAndMistakesAreNamed) {
  for (auto distribution :
       {Distribution::kUniform, Distribution::kZipfian, Distribution::kLatest}) {
    EXPECT_EQ(*parse_distribution(distribution_name(distribution)), distribution);
  }
  const auto wrong = parse_distribution("gaussian");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find("'gaussian'"), std::string::npos);
  EXPECT_NE(wrong.status().message().find("zipfian, latest and uniform"), std::string::npos);
}

}  // namespace
}  // namespace nvcache
