// Break-even: a cache never costs more than LOSS of what its lookups take without it, whatever
// writes cost, and writes all it is offered where they are cheap.
#include <gtest/gtest.h>

#include <string>

#include "base/prng.h"
#include "base/virtual_clock.h"
#include "block_cache/api/config.h"
#include "policy/admission/make_admission.h"
#include "support/block_cache_fixture.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr uint64_t kUs = 1000;
constexpr uint32_t kBlockBytes = 4096;

// An engine and a cache in numbers: each lookup costs what it would take.
struct Numbers {
  double storage_us = 100;
  double read_us = 5;
  double write_us = 20;  // of a block
  double hit_share = 0;  // of lookups
  bool told = true;
};

struct Outcome {
  double admitted = 0;  // a lookup
  double time = 0;      // of what the lookups take without a cache
};

// So many lookups, each miss followed by an offer.
Outcome run(AdmissionPolicy& policy, const Numbers& numbers, uint64_t lookups, Traffic* traffic) {
  Prng random(test_seed());
  traffic->storage_read_ns = numbers.told ? numbers.storage_us * kUs : 0;
  traffic->hit_read_ns = numbers.read_us * kUs;
  traffic->write_kib_ns = numbers.write_us * kUs * 1024 / kBlockBytes;
  uint64_t admitted = 0;
  uint64_t hits = 0;
  uint32_t questions = 0;
  for (uint64_t i = 0; i < lookups; ++i) {
    ++traffic->lookups;
    if (random.unit() < numbers.hit_share) {
      ++traffic->hits;
      ++hits;
      continue;
    }
    traffic->has_totals = ++questions % policy.totals_interval() == 0;
    Traffic seen = *traffic;
    if (!traffic->has_totals) seen.lookups = seen.hits = seen.written_bytes = 0;
    const Candidate block = {.key = {1, i}, .key_hash = i, .size_bytes = kBlockBytes};
    if (!policy.admit(block, seen).admitted()) continue;
    ++admitted;
    traffic->written_bytes += kBlockBytes;
  }
  const auto all = static_cast<double>(lookups);
  const double spent_us = static_cast<double>(hits) * numbers.read_us +
                          (all - static_cast<double>(hits)) * numbers.storage_us +
                          static_cast<double>(admitted) * numbers.write_us;
  return {static_cast<double>(admitted) / all, spent_us / (all * numbers.storage_us)};
}

std::unique_ptr<AdmissionPolicy> make(std::string_view spec = "break_even",
                                      uint64_t cache_size_bytes = 64 << 20) {
  return make_admission(spec, {.cache_size_bytes = cache_size_bytes}).value();
}

TEST(BreakEven, AdmitsAllWhereWritesAreCheap) {
  Traffic traffic;
  EXPECT_EQ(run(*make(), {.write_us = 4}, 100'000, &traffic).admitted, 1);
}

TEST(BreakEven, ACacheWithoutHitsCostsAtMostTheLoss) {
  for (const double write_us : {10, 100, 1000, 10'000}) {
    for (const double loss : {0.01, 0.05, 0.2}) {
      Traffic traffic;
      const auto policy = make("break_even(" + std::to_string(loss) + ")");
      (void)run(*policy, {.write_us = write_us}, 100'000, &traffic);  // the first 1/64 is free
      const Outcome outcome = run(*policy, {.write_us = write_us}, 1'000'000, &traffic);
      EXPECT_LE(outcome.time, 1 + loss * 1.01) << write_us << " " << loss;
      EXPECT_GT(outcome.admitted, 0) << "it goes on to try";
    }
  }
}

TEST(BreakEven, HitsKeepHalfOfWhatTheySave) {
  Traffic traffic;
  const auto policy = make();
  const Numbers numbers = {.write_us = 100'000, .hit_share = 0.4};
  (void)run(*policy, numbers, 100'000, &traffic);
  const Outcome outcome = run(*policy, numbers, 1'000'000, &traffic);
  EXPECT_LE(outcome.time, 1 - 0.95 * 0.4 * 0.5 + 0.05);
}

TEST(BreakEven, HitsPayForWrites) {
  Traffic traffic;
  const auto policy = make();
  const double without = run(*policy, {.write_us = 100}, 1'000'000, &traffic).admitted;
  const double with =
      run(*policy, {.write_us = 100, .hit_share = 0.5}, 1'000'000, &traffic).admitted;
  EXPECT_NEAR(without, 0.05, 0.01);
  EXPECT_GT(with, 4 * without);
}

// A medium that is as slow as the storage saves nothing.
TEST(BreakEven, WhereHitsSaveNothingNextToNothingIsWritten) {
  Traffic traffic;
  const auto policy = make();
  const Numbers numbers = {.read_us = 130, .write_us = 100, .hit_share = 0.3};
  (void)run(*policy, numbers, 100'000, &traffic);
  EXPECT_LT(run(*policy, numbers, 1'000'000, &traffic).admitted, 0.001);
}

TEST(BreakEven, AnEngineThatTellsNothingGetsAllAdmitted) {
  Traffic traffic;
  const auto policy = make();
  EXPECT_EQ(run(*policy, {.write_us = 10'000, .told = false}, 100'000, &traffic).admitted, 1);
  // When it tells, what was written before is nobody's debt; the first 1/64 of the cache is free.
  const Outcome told = run(*policy, {.write_us = 10'000}, 1000, &traffic);
  EXPECT_GE(told.admitted * 1000, 256 - 16);
  EXPECT_LE(told.admitted * 1000, 256 + 16);
}

// A full cache asks twice for each block; whichever question brings the totals, they count.
uint64_t admitted_with_two_questions(bool evict_first) {
  const auto policy = make();
  Traffic traffic = {.storage_read_ns = 100.0 * kUs, .write_kib_ns = 1000.0 * kUs};
  uint32_t questions = 0;
  const auto ask = [&] { traffic.has_totals = ++questions % policy->totals_interval() == 0; };
  const auto may_evict = [&] {
    ask();
    EXPECT_TRUE(policy->may_evict(traffic));
  };
  uint64_t admitted = 0;
  for (uint64_t i = 0; i < 10'000; ++i) {
    ++traffic.lookups;
    if (evict_first) may_evict();
    ask();
    const Candidate block = {.key = {1, i}, .key_hash = i, .size_bytes = kBlockBytes};
    if (policy->admit(block, traffic).admitted()) {
      ++admitted;
      traffic.written_bytes += kBlockBytes;
    }
    if (!evict_first) may_evict();
  }
  return admitted;
}

TEST(BreakEven, EachQuestionMayBringTheTotals) {
  // The first 1/64 of the cache, then LOSS: 5 us of each lookup; a block takes 4 ms.
  constexpr double kExpected = 256 + 10'000 * 5.0 / 4000;
  EXPECT_NEAR(static_cast<double>(admitted_with_two_questions(true)), kExpected, 20);
  EXPECT_NEAR(static_cast<double>(admitted_with_two_questions(false)), kExpected, 20);
}

// A day of hits does not pay for a long loss.
TEST(BreakEven, RichesAreBounded) {
  Traffic traffic;
  const auto policy = make();
  (void)run(*policy, {.hit_share = 0.99}, 1'000'000, &traffic);
  const Outcome after = run(*policy, {.write_us = 1000}, 100'000, &traffic);
  EXPECT_LE(after.admitted * 100'000, 256 + 0.05 * 0.1 * 100'000 + 16);
}

TEST(BreakEven, ArgumentsAreNumbers) {
  EXPECT_EQ(make("break_even(0.1)")->describe(), "break_even(0.1,0.5)");
  EXPECT_EQ(make()->describe(), "break_even(0.05,0.5)");
  for (const char* bad : {"break_even(x)", "break_even(-1)", "break_even(1,2,3)"}) {
    const auto policy = make_admission(bad, {.cache_size_bytes = 1 << 20});
    EXPECT_EQ(policy.status().code(), StatusCode::kInvalidArgument) << bad;
  }
}

// The whole cache, in virtual time: what preset=auto does on flash that is written by others too,
// over storage as fast as it, and over one that is slow. The share of blocks that come in.
double share_admitted(uint64_t storage_us, bool tells) {
  VirtualClock clock;
  const std::string spec = "nvcache://?size=8MiB&preset=auto&medium=emulated:flash,load=64";
  const Config config = parse_config(spec).value();
  auto medium = open_medium(
      config.medium, {.size_bytes = config.size_bytes, .max_size_bytes = config.max_size_bytes},
      clock);
  EXPECT_TRUE(medium.ok()) << medium.status();
  const auto cache = test::make_on(spec, *std::move(medium), clock);
  EXPECT_TRUE(cache->wants_storage_reads());
  constexpr uint64_t kReads = 6000;
  for (uint64_t i = 0; i < kReads; ++i) {
    const BlockKey key = {1, i};
    const Lookup found = cache->lookup(key);
    EXPECT_FALSE(found.hit());
    const uint64_t asked_ns = clock.now_ns();
    clock.wait_until_ns(asked_ns + storage_us * kUs);
    if (tells) cache->note_storage_read(clock.now_ns() - asked_ns);
    (void)test::put(*cache, key, kBlockBytes);
    cache->drain();
  }
  const Stats stats = cache->stats();
  EXPECT_EQ(stats.inserts + stats.refused[static_cast<size_t>(Reason::kOverhead)] +
                stats.refused[static_cast<size_t>(Reason::kLessUsed)],
            kReads);
  return static_cast<double>(stats.inserts) / kReads;
}

TEST(BreakEven, APresetWeighsHowLongTheMediumTakes) {
  EXPECT_LT(share_admitted(20, true), 0.25);
  EXPECT_GT(share_admitted(100'000, true), 0.3);
  EXPECT_GT(share_admitted(20, false), 0.3);
}

}  // namespace
}  // namespace nvcache
