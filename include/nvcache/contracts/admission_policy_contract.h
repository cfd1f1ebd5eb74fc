// The promises of every admission policy: a suite of GoogleTest for policies of your own. Include
// it in one source file of a test program, and name the policies:
//
//   INSTANTIATE_TEST_SUITE_P(Mine, nvcache::AdmissionPolicyContract, ::testing::Values(
//       nvcache::AdmissionPromises{.name = "mine", .make = make_mine}));
//
// nvcache's own policies pass the same suite. Needs GoogleTest and threads.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nvcache/admission_policy.h"
#include "nvcache/contracts/seeded_random.h"

namespace nvcache {

struct AdmissionPromises {
  std::string name;
  std::function<std::unique_ptr<AdmissionPolicy>()> make;
  // Makes a policy of a description; null if the description is none. Leave it out for policies
  // that were not added to the registry: their description is not tested then.
  std::function<std::unique_ptr<AdmissionPolicy>(const std::string&)> make_again = nullptr;

  friend void PrintTo(const AdmissionPromises& promises, std::ostream* out) {
    *out << promises.name;
  }
};

inline Candidate offered_block(uint64_t key, Origin origin = Origin::kRead) {
  return {.key = {1, key}, .key_hash = split_mix(key), .size_bytes = 4096, .origin = origin};
}

// Traffic that a cache with this policy would see.
class OfferedTraffic {
 public:
  explicit OfferedTraffic(std::unique_ptr<AdmissionPolicy> policy) : policy_(std::move(policy)) {}

  Verdict offer(uint64_t key, Origin origin = Origin::kRead) {
    const Verdict verdict = policy_->admit(offered_block(key, origin), traffic);
    if (!verdict.admitted()) return verdict;
    ++traffic.inserted;
    ++traffic.resident_blocks;
    traffic.written_bytes += 4096;
    return verdict;
  }
  AdmissionPolicy& policy() { return *policy_; }

  Traffic traffic;

 private:
  std::unique_ptr<AdmissionPolicy> policy_;
};

class AdmissionPolicyContract : public ::testing::TestWithParam<AdmissionPromises> {
 protected:
  std::unique_ptr<AdmissionPolicy> make() const { return GetParam().make(); }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AdmissionPolicyContract);

TEST_P(AdmissionPolicyContract, ItsDescriptionMakesItAgain) {
  if (GetParam().make_again == nullptr) return;
  const std::string description = make()->describe();
  const std::unique_ptr<AdmissionPolicy> again = GetParam().make_again(description);
  ASSERT_NE(again, nullptr) << description;
  EXPECT_EQ(again->describe(), description);
}

TEST_P(AdmissionPolicyContract, AnEmptyCacheCanStart) {
  OfferedTraffic cache(make());
  for (uint64_t i = 0; i < 10'000 && cache.traffic.inserted == 0; ++i) {
    ++cache.traffic.lookups;
    cache.traffic.now_ns += 1'000'000;
    cache.offer(i % 100);
  }
  EXPECT_GT(cache.traffic.inserted, 0u);
}

TEST_P(AdmissionPolicyContract, OneThreadReplaysExactly) {
  OfferedTraffic first(make());
  OfferedTraffic second(make());
  SeededRandom random(3);
  for (int i = 0; i < 5000; ++i) {
    ++first.traffic.lookups;
    ++second.traffic.lookups;
    const uint64_t key = random.below(1000);
    const Origin origin = random.below(4) == 0 ? Origin::kWrite : Origin::kRead;
    ASSERT_EQ(first.offer(key, origin), second.offer(key, origin)) << i;
    ASSERT_EQ(first.policy().may_evict(first.traffic), second.policy().may_evict(second.traffic));
  }
}

TEST_P(AdmissionPolicyContract, VerdictsDependOnTotalsOnlyIfItSaysSo) {
  const auto with = make();
  const auto without = make();
  if (with->totals_interval() != 0) return;
  SeededRandom random(4);
  Traffic totals;
  for (int i = 0; i < 5000; ++i) {
    totals.now_ns += 1'000'000;
    totals.dataset_size_bytes = random.below(2'000'000);
    const Traffic none{.dataset_size_bytes = totals.dataset_size_bytes, .now_ns = totals.now_ns};
    totals.lookups += random.below(100);
    totals.inserted += random.below(10);
    totals.hit_bytes += random.below(100'000);
    totals.written_bytes += random.below(100'000);
    totals.resident_blocks = random.below(1000);
    const Candidate block =
        offered_block(random.below(1000), random.below(4) == 0 ? Origin::kWrite : Origin::kRead);
    ASSERT_EQ(with->admit(block, totals), without->admit(block, none)) << i;
    ASSERT_EQ(with->may_evict(totals), without->may_evict(none)) << i;
  }
}

TEST_P(AdmissionPolicyContract, IsSafeFromManyThreads) {
  const auto policy = make();
  std::atomic<uint64_t> lookups{0};
  std::atomic<uint64_t> inserted{0};
  const auto work = [&](uint64_t seed) {
    SeededRandom random(seed);
    for (int i = 0; i < 5000; ++i) {
      const Traffic traffic{.lookups = lookups.fetch_add(1) + 1,
                            .inserted = inserted.load(),
                            .written_bytes = inserted.load() * 4096,
                            .resident_blocks = inserted.load(),
                            .now_ns = lookups.load() * 1'000'000};
      if (policy->admit(offered_block(random.below(5000)), traffic).admitted()) ++inserted;
      policy->may_evict(traffic);
      if (i % 64 == 0) policy->metadata_bytes();
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(inserted.load(), 20'000u);
}

}  // namespace nvcache
