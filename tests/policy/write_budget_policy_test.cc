// The write budget: what may be written in a time, whatever is offered.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/prng.h"
#include "base/virtual_clock.h"
#include "policy/admission/make_admission.h"
#include "support/block_cache_fixture.h"
#include "support/temp_dir.h"
#include "support/test_seed.h"

namespace nvcache {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kMiB = 1 << 20;

StatusOr<std::unique_ptr<AdmissionPolicy>> budget(std::string_view spec,
                                                  uint64_t cache_size_bytes = 1 << 30) {
  return make_admission(spec, {.cache_size_bytes = cache_size_bytes});
}

Candidate block_of_4_kib() {
  return {.key = {1, 1}, .key_hash = 1, .size_bytes = 4096, .origin = Origin::kRead};
}

// Bytes that a stream of blocks gets admitted from `from_s` on, for so many seconds.
uint64_t written_in(AdmissionPolicy& policy, uint64_t from_s, uint64_t seconds, uint64_t* total) {
  const uint64_t before = *total;
  constexpr uint64_t kSteps = 100;
  for (uint64_t step = 0; step < seconds * kSteps; ++step) {
    const uint64_t now_ns = from_s * kSecondNs + step * kSecondNs / kSteps;
    while (policy.admit(block_of_4_kib(), {.written_bytes = *total, .now_ns = now_ns}).admitted()) {
      *total += 4096;
    }
  }
  return *total - before;
}

TEST(WriteBudgetPolicy, GivesABurstAndThenTheRate) {
  const auto policy = budget("write_budget(10MiB/s,burst:64MiB)").value();
  uint64_t total = 0;
  const uint64_t first = written_in(*policy, 1000, 10, &total);
  EXPECT_NEAR(static_cast<double>(first), 64.0 * kMiB + 10 * 10.0 * kMiB, 0.2 * kMiB);
  const uint64_t next = written_in(*policy, 1010, 10, &total);
  EXPECT_NEAR(static_cast<double>(next), 10 * 10.0 * kMiB, 0.2 * kMiB);
  // An hour without a write earns one burst, not an hour's rate.
  const uint64_t later = written_in(*policy, 1020 + 3600, 10, &total);
  EXPECT_NEAR(static_cast<double>(later), 64.0 * kMiB + 10 * 10.0 * kMiB, 0.2 * kMiB);
}

// The writes of others (blocks written again, padding) are taken from the same bucket.
TEST(WriteBudgetPolicy, CountsWhatIsWrittenAndNotWhatIsAdmitted) {
  const auto policy = budget("write_budget(10MiB/s,burst:1MiB)").value();
  const Candidate block = block_of_4_kib();
  EXPECT_TRUE(policy->admit(block, {.written_bytes = 0, .now_ns = kSecondNs}).admitted());
  const Traffic over = {.written_bytes = 21 * kMiB, .now_ns = kSecondNs};
  EXPECT_EQ(policy->admit(block, over).reason, Reason::kWriteBudget);
  EXPECT_TRUE(policy->may_evict(over)) << "evicting writes nothing";
  EXPECT_FALSE(
      policy->admit(block, {.written_bytes = 21 * kMiB, .now_ns = 3 * kSecondNs}).admitted())
      << "20 MiB over: two seconds";
  EXPECT_TRUE(policy->admit(block, {.written_bytes = 21 * kMiB, .now_ns = 3 * kSecondNs + 1000000})
                  .admitted());
}

TEST(WriteBudgetPolicy, RatesAreWrittenInAnyUnit) {
  // The bytes admitted in a minute beside the burst.
  const auto bytes_per_minute = [](std::string_view rate) {
    const auto policy = budget("write_budget(" + std::string(rate) + ",burst:1MiB)").value();
    uint64_t total = 0;
    return static_cast<double>(written_in(*policy, 5, 60, &total)) - kMiB;
  };
  EXPECT_NEAR(bytes_per_minute("1MiB/s"), 60.0 * kMiB, 1e5);
  EXPECT_NEAR(bytes_per_minute("60 MiB/min"), 60.0 * kMiB, 1e5);
  EXPECT_NEAR(bytes_per_minute("3600MiB/hour"), 60.0 * kMiB, 1e5);
  EXPECT_NEAR(bytes_per_minute("86.4GB/day"), 60e6, 1e5);
  EXPECT_NEAR(bytes_per_minute("84.375DWPD"), 60.0 * kMiB, 1e5) << "of a cache of 1 GiB";
}

TEST(WriteBudgetPolicy, DescribesItself) {
  EXPECT_EQ(budget("write_budget(50MiB/s)").value()->describe(),
            "write_budget(50MiB/s,burst:3000MiB)");
  EXPECT_EQ(budget("write_budget( 0.5DWPD , burst: 1GiB )").value()->describe(),
            "write_budget(0.5DWPD,burst:1GiB)");
  EXPECT_EQ(budget("write_budget(1B/day)").value()->describe(), "write_budget(1B/day,burst:1MiB)");
}

TEST(WriteBudgetPolicy, SaysWhatItTakes) {
  for (const std::string bad :
       {"write_budget", "write_budget()", "write_budget(50MiB)", "write_budget(0MiB/s)",
        "write_budget(50MiB/week)", "write_budget(-1DWPD)", "write_budget(DWPD)",
        "write_budget(9999TiB/s)", "write_budget(1MiB/s,1GiB)", "write_budget(1MiB/s,burst:1KiB)",
        "write_budget(1MiB/s,burst:x)", "write_budget(1MiB/s,burst:1GiB,x)"}) {
    const Status status = budget(bad).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << bad;
    EXPECT_NE(status.message().find("RATE: a size per s, min, hour or day"), std::string::npos)
        << status;
  }
}

// In a cache, with padding.
TEST(WriteBudgetPolicy, HoldsForACacheInAFile) {
  TempDir dir;
  VirtualClock clock;
  const std::string spec =
      "nvcache://?size=16MiB&write_queue=2MiB&eviction=lru"
      "&admission=write_budget(1MiB/s,burst:2MiB)&medium=file:" +
      dir.file("medium") + ",io=direct";
  const Config config = parse_config(spec).value();
  auto medium = open_medium(
      config.medium, {.size_bytes = config.size_bytes, .max_size_bytes = config.max_size_bytes},
      clock);
  ASSERT_TRUE(medium.ok()) << medium.status();
  const auto cache = test::make_on(spec, *std::move(medium), clock);
  Prng random(test_seed());
  constexpr uint64_t kSeconds = 60;
  for (uint64_t step = 0; step < kSeconds * 10; ++step) {
    clock.wait_until_ns(step * kSecondNs / 10);
    for (int i = 0; i < 200; ++i) {  // 8 MiB a second
      const BlockKey key{1, random() % 100000};
      if (!cache->lookup(key).hit()) test::put(*cache, key, 4000);
    }
    cache->drain();
  }
  cache->drain();
  const Stats stats = cache->stats();
  const uint64_t slack = config.write_queue_bytes + 2 * kMiB;
  EXPECT_LE(stats.medium_written_bytes, kSeconds * kMiB + slack) << stats.to_json();
  EXPECT_GE(stats.medium_written_bytes, kSeconds * kMiB * 9 / 10) << stats.to_json();
  EXPECT_GT(stats.refused[static_cast<size_t>(Reason::kWriteBudget)], 1000u);
}

}  // namespace
}  // namespace nvcache
