// The overhead bypass ratio: exactly at its target, at zero, after bursts, and when phases change.
#include <gtest/gtest.h>

#include <string>

#include "base/prng.h"
#include "policy/admission/make_admission.h"
#include "policy/admission/overhead_ratio.h"

namespace nvcache {
namespace {

constexpr uint64_t kObpBlockBytes = 4096;

std::unique_ptr<AdmissionPolicy> obp_policy(std::string_view spec) {
  return make_admission(spec, {}).value();
}

Candidate sized_candidate(uint32_t size_bytes = kObpBlockBytes) {
  return {.key = {1, 1}, .key_hash = mix64(1), .size_bytes = size_bytes, .origin = Origin::kRead};
}

bool admits(AdmissionPolicy& policy, const Traffic& traffic) {
  const Verdict verdict = policy.admit(sized_candidate(), traffic);
  EXPECT_EQ(verdict.admitted(), policy.may_evict(traffic)) << "it gates both alike";
  if (!verdict.admitted()) {
    EXPECT_EQ(verdict.reason, Reason::kOverhead);
  }
  return verdict.admitted();
}

TEST(OverheadRatio, IsThePapersFormula) {
  EXPECT_EQ(overhead_ratio({.lookups = 200, .inserted = 15, .removed = 5}), 0.1);
  EXPECT_EQ(overhead_ratio({.lookups = 0, .inserted = 0}), 0.0);
  EXPECT_EQ(overhead_ratio({.lookups = 0, .inserted = 3, .removed = 1}), 4.0);
}

TEST(ObpPolicy, AbstainsOnlyAboveItsTarget) {
  for (const std::string spec : {"obp", "obp(0.1)", "obp(0.1,window)"}) {
    EXPECT_TRUE(admits(*obp_policy(spec), {.lookups = 1000, .inserted = 60, .removed = 40}))
        << spec;
    EXPECT_FALSE(admits(*obp_policy(spec), {.lookups = 1000, .inserted = 61, .removed = 40}))
        << spec;
    EXPECT_FALSE(admits(*obp_policy(spec), {.lookups = 999, .inserted = 60, .removed = 40}))
        << spec;
  }
}

// 0.29 * 100 is 28.999... in floating point, so a product would refuse a ratio at the target.
TEST(ObpPolicy, EveryTargetOfTwoDecimalsIsMetExactly) {
  for (uint64_t percent = 1; percent <= 99; ++percent) {
    const std::string target = (percent < 10 ? "0.0" : "0.") + std::to_string(percent);
    const auto policy = obp_policy("obp(" + target + ")");
    for (const uint64_t scale : {1, 3, 7, 1000}) {
      EXPECT_TRUE(admits(*policy, {.lookups = 100 * scale, .inserted = percent * scale})) << target;
      EXPECT_FALSE(admits(*policy, {.lookups = 100 * scale, .inserted = percent * scale + 1}));
    }
  }
}

TEST(ObpPolicy, AnEmptyCacheStartsWithOneBlock) {
  for (const std::string spec :
       {"obp", "obp(window)", "obp(bytes)", "obp(window,bytes)", "obp(0)"}) {
    const auto policy = obp_policy(spec);
    EXPECT_TRUE(admits(*policy, {})) << spec;
    EXPECT_FALSE(admits(*policy, {.inserted = 1, .written_bytes = kObpBlockBytes})) << spec;
    EXPECT_FALSE(admits(*policy, {.lookups = 1, .inserted = 1, .written_bytes = kObpBlockBytes}))
        << spec;
  }
}

// "Although NVCache is enabled during the populate phase, it hardly admits any
// blocks, because OBP throttles the admission rate during this write-only phase."
TEST(ObpPolicy, APopulatePhaseIsKeptOut) {
  for (const std::string spec : {"obp", "obp(window)", "obp(bytes)", "obp(window,bytes)"}) {
    const auto policy = obp_policy(spec);
    Traffic traffic;
    for (int i = 0; i < 10'000; ++i) {
      if (!policy->admit(sized_candidate(), traffic).admitted()) continue;
      ++traffic.inserted;
      traffic.written_bytes += kObpBlockBytes;
    }
    EXPECT_EQ(traffic.inserted, 1u) << spec;
  }
}

// Runs lookups that all miss; each offers its block. Returns how many blocks were admitted.
uint64_t run_misses(AdmissionPolicy& policy, Traffic& traffic, uint64_t lookups) {
  const uint64_t before = traffic.inserted;
  for (uint64_t i = 0; i < lookups; ++i) {
    ++traffic.lookups;
    if (!policy.admit(sized_candidate(), traffic).admitted()) continue;
    ++traffic.inserted;
    traffic.written_bytes += kObpBlockBytes;
  }
  return traffic.inserted - before;
}

TEST(ObpPolicy, AdmitsItsShareOfLookups) {
  for (const std::string spec :
       {"obp(0.1)", "obp(0.1,window:1000)", "obp(0.1,bytes)", "obp(0.1,window:1000,bytes)"}) {
    Traffic traffic;
    const auto policy = obp_policy(spec);
    EXPECT_NEAR(static_cast<double>(run_misses(*policy, traffic, 20'000)), 2000, 60) << spec;
  }
}

TEST(ObpPolicy, AfterABurstOfRemovalsALifetimeStaysShutAndAWindowOpens) {
  Traffic burst{.lookups = 10'000, .inserted = 1000, .removed = 0};
  burst.removed += 20'000;  // an engine drops its files
  const auto lifetime = obp_policy("obp(0.1)");
  Traffic traffic = burst;
  EXPECT_EQ(run_misses(*lifetime, traffic, 20'000), 0u);

  const auto window = obp_policy("obp(0.1,window:1000)");
  traffic = {.lookups = 10'000, .inserted = 1000};
  EXPECT_TRUE(admits(*window, traffic)) << "at its target";
  traffic = burst;
  EXPECT_FALSE(admits(*window, traffic));
  EXPECT_EQ(run_misses(*window, traffic, 3000), 0u) << "the burst is not forgotten at once";
  EXPECT_GT(run_misses(*window, traffic, 17'000), 500u);
}

TEST(ObpPolicy, AWindowOpensByLookupsAloneEvenIfNobodyAsksMeanwhile) {
  const auto policy = obp_policy("obp(0.1,window:1000)");
  EXPECT_FALSE(admits(*policy, {.lookups = 100, .inserted = 100}));
  EXPECT_FALSE(admits(*policy, {.lookups = 200, .inserted = 100}));
  EXPECT_TRUE(admits(*policy, {.lookups = 50'000, .inserted = 100})) << "hits only, no offers";
  EXPECT_TRUE(admits(*policy, {.lookups = 50'001, .inserted = 100}));
}

TEST(ObpPolicy, AWindowDoesNotSaveUpCreditAsALifetimeDoes) {
  Traffic good{.lookups = 1'000'000};  // hits only for a long time, then misses only
  const auto lifetime = obp_policy("obp(0.1)");
  Traffic traffic = good;
  EXPECT_EQ(run_misses(*lifetime, traffic, 50'000), 50'000u);
  const auto window = obp_policy("obp(0.1,window:1000)");
  traffic = good;
  EXPECT_LT(run_misses(*window, traffic, 50'000), 5500u);
}

TEST(ObpPolicy, TotalsThatLagBehindAFoldDoNoHarm) {
  const auto policy = obp_policy("obp(0.1,window:64)");
  EXPECT_TRUE(admits(*policy, {.lookups = 1000, .inserted = 10}));
  EXPECT_TRUE(admits(*policy, {.lookups = 990, .inserted = 9})) << "a slower thread's snapshot";
}

TEST(ObpPolicy, BytesCountsWhatIsWrittenAndNotWhatIsRemoved) {
  const auto policy = obp_policy("obp(0.1,bytes)");
  policy->admit(sized_candidate(), {});
  EXPECT_TRUE(admits(*policy, {.lookups = 1000,
                               .inserted = 100,
                               .removed = 100'000,
                               .written_bytes = 100 * kObpBlockBytes}));
  EXPECT_FALSE(admits(
      *policy, {.lookups = 1000, .inserted = 100, .written_bytes = 100 * kObpBlockBytes + 1}));
}

TEST(ObpPolicy, BytesMakesLargeBlocksCostMore) {
  const auto policy = obp_policy("obp(0.5,bytes)");
  for (int i = 0; i < 100; ++i) {  // half of the blocks offered are 4 KiB, half 60 KiB: mean 32 KiB
    policy->admit(sized_candidate(4096), {});
    policy->admit(sized_candidate(60 * 1024), {});
  }
  const Traffic small{.lookups = 100, .inserted = 40, .written_bytes = 40 * 4096};
  const Traffic large{.lookups = 100, .inserted = 40, .written_bytes = 40 * 60 * 1024};
  EXPECT_TRUE(policy->may_evict(small));
  EXPECT_FALSE(policy->may_evict(large));
}

}  // namespace
}  // namespace nvcache
