// What every admission policy and every composition promises, and what the parser of
// specifications says about mistakes.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

constexpr AdmissionContext kContext{.cache_size_bytes = 64 << 20, .seed = 5};

std::unique_ptr<AdmissionPolicy> make(std::string_view spec) {
  return make_admission(spec, kContext).value();
}

Candidate candidate(uint64_t key, Origin origin = Origin::kRead) {
  return {.key = {1, key}, .key_hash = mix64(key), .size_bytes = 4096, .origin = origin};
}

// Traffic that a cache with this policy would see.
class Driver {
 public:
  explicit Driver(std::string_view spec) : policy_(make(spec)) {}

  Verdict offer(uint64_t key, Origin origin = Origin::kRead) {
    const Verdict verdict = policy_->admit(candidate(key, origin), traffic);
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

class AdmissionContract : public ::testing::TestWithParam<std::string> {};

TEST_P(AdmissionContract, ItsDescriptionMakesItAgain) {
  const std::string description = make(GetParam())->describe();
  const auto again = make_admission(description, kContext);
  ASSERT_TRUE(again.ok()) << description << ": " << again.status().message();
  EXPECT_EQ((*again)->describe(), description);
}

TEST_P(AdmissionContract, AnEmptyCacheCanStart) {
  Driver cache(GetParam());
  for (uint64_t i = 0; i < 10'000 && cache.traffic.inserted == 0; ++i) {
    ++cache.traffic.lookups;
    cache.traffic.now_ns += 1'000'000;
    cache.offer(i % 100);
  }
  EXPECT_GT(cache.traffic.inserted, 0u);
}

TEST_P(AdmissionContract, OneThreadReplaysExactly) {
  Driver first(GetParam());
  Driver second(GetParam());
  Prng prng(3);
  for (int i = 0; i < 5000; ++i) {
    ++first.traffic.lookups;
    ++second.traffic.lookups;
    const uint64_t key = prng.below(1000);
    const Origin origin = prng.below(4) == 0 ? Origin::kWrite : Origin::kRead;
    ASSERT_EQ(first.offer(key, origin), second.offer(key, origin)) << i;
    ASSERT_EQ(first.policy().may_evict(first.traffic), second.policy().may_evict(second.traffic));
  }
}

TEST_P(AdmissionContract, VerdictsDependOnTotalsOnlyIfItSaysSo) {
  const auto with = make(GetParam());
  const auto without = make(GetParam());
  if (with->reads_totals()) return;
  Prng prng(4);
  Traffic totals;
  for (int i = 0; i < 5000; ++i) {
    totals.now_ns += 1'000'000;
    totals.dataset_size_bytes = prng.below(2'000'000);
    const Traffic none{.dataset_size_bytes = totals.dataset_size_bytes, .now_ns = totals.now_ns};
    totals.lookups += prng.below(100);
    totals.inserted += prng.below(10);
    totals.hit_bytes += prng.below(100'000);
    totals.written_bytes += prng.below(100'000);
    totals.resident_blocks = prng.below(1000);
    const Candidate block =
        candidate(prng.below(1000), prng.below(4) == 0 ? Origin::kWrite : Origin::kRead);
    ASSERT_EQ(with->admit(block, totals), without->admit(block, none)) << i;
    ASSERT_EQ(with->may_evict(totals), without->may_evict(none)) << i;
  }
}

TEST_P(AdmissionContract, IsSafeFromManyThreads) {
  const auto policy = make(GetParam());
  std::atomic<uint64_t> lookups{0};
  std::atomic<uint64_t> inserted{0};
  const auto work = [&](uint64_t seed) {
    Prng prng(seed);
    for (int i = 0; i < 5000; ++i) {
      const Traffic traffic{.lookups = lookups.fetch_add(1) + 1,
                            .inserted = inserted.load(),
                            .written_bytes = inserted.load() * 4096,
                            .resident_blocks = inserted.load(),
                            .now_ns = lookups.load() * 1'000'000};
      if (policy->admit(candidate(prng.below(5000)), traffic).admitted()) ++inserted;
      policy->may_evict(traffic);
      if (i % 64 == 0) policy->metadata_bytes();
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(inserted.load(), 20'000u);
}

std::vector<std::string> examples() {
  std::vector<std::string> specs;
  for (const AdmissionRow& row : kAdmissionPolicies) specs.emplace_back(row.example);
  return specs;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& instance) {
  std::string name;
  for (const char c : instance.param) name += std::isalnum(c) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Policies, AdmissionContract, ::testing::ValuesIn(examples()), test_name);

INSTANTIATE_TEST_SUITE_P(
    Arguments, AdmissionContract,
    ::testing::Values("obp(0.3,window)", "obp(0.3,window:500,bytes)", "obp(0.29,lifetime,bytes)",
                      "small_bypass(0,/etc)",
                      "small_bypass(1000)+obp+second_touch+probability(0.5)+no_write_allocate"),
    test_name);

TEST(AdmissionChain, EveryMemberSeesEveryCandidateAndTheFirstRefusalCounts) {
  Driver cache("obp(0.1)+second_touch");
  cache.traffic.inserted = 50;
  cache.traffic.lookups = 100;
  EXPECT_EQ(cache.offer(1), Verdict::refuse(Reason::kOverhead));
  cache.traffic.lookups = 1000;
  EXPECT_EQ(cache.offer(2), Verdict::refuse(Reason::kFirstTouch));
  EXPECT_TRUE(cache.offer(1).admitted()) << "second_touch saw it while obp refused it";
}

TEST(AdmissionChain, BlocksMayBeEvictedOnlyIfNoMemberObjects) {
  const auto policy = make("second_touch+obp(0.1)+always");
  EXPECT_TRUE(policy->may_evict({.lookups = 100, .inserted = 10}));
  EXPECT_FALSE(policy->may_evict({.lookups = 100, .inserted = 11}));
}

TEST(AdmissionSpec, DefaultsAreSpelledOut) {
  EXPECT_EQ(make("obp")->describe(), "obp(0.1,lifetime)");
  EXPECT_EQ(make("obp()")->describe(), "obp(0.1,lifetime)");
  EXPECT_EQ(make("obp(window)")->describe(), "obp(0.1,window:100000)");
  EXPECT_EQ(make(" small_bypass( 16GiB ) + obp( 0.25 , bytes ) ")->describe(),
            "small_bypass(16GiB)+obp(0.25,lifetime,bytes)");
  EXPECT_EQ(make("small_bypass(1000)")->describe(), "small_bypass(1000)");
  EXPECT_EQ(make("probability(0.00001)")->describe(), "probability(0.00001)");
}

struct BadAdmission {
  std::string spec;
  std::string named;
};

TEST(AdmissionSpec, AMistakeIsNamedWithWhatIsAllowed) {
  const BadAdmission cases[] = {
      {"", "no name given"},
      {"+", "no name given"},
      {"always+", "no name given"},
      {"(0.1)", "'(0.1)'"},
      {"alway", "'alway'"},
      {"always(1)", "1 argument"},
      {"no_write_allocate(x)", "1 argument"},
      {"second_touch(2)", "1 argument"},
      {"probability", "no P given"},
      {"probability()", "no P given"},
      {"probability(1.5)", "P: '1.5' given; allowed: a number from 0 to 1"},
      {"probability(0.1,0.2)", "2 argument"},
      {"obp(-1)", "TARGET: '-1' given"},
      {"obp(10%)", "TARGET: '10%' given"},
      {"obp(0.1,forever)", "option 'forever' given"},
      {"obp(forever)", "option 'forever' given"},
      {"obp(0.1,)", "option '' given"},
      {"obp(0.1,window:0)", "option 'window:0' given"},
      {"obp(0.1,window:many)", "option 'window:many' given"},
      {"obp(0.1,window:9999999999999999999999)", "option 'window:999"},
      {"obp(0.1,window,lifetime)", "option 'lifetime' given"},
      {"obp(0.1,bytes,bytes)", "option 'bytes' given"},
      {"obp(0.1,window,bytes,x)", "4 argument"},
      {"obp(0.1", "no ')'"},
      {"obp(0.1))", "no ')'"},
      {"obp((0.1))", "'obp((0.1))'"},
      {"obp(0.1)+always+obp(0.2)", "obp given twice"},
      {"small_bypass", "no DRAM_SIZE given"},
      {"small_bypass(much)", "DRAM_SIZE: 'much'"},
      {"small_bypass(1GiB,/no/such/directory)", "DIRECTORY: '/no/such/directory' given"},
      {"small_bypass(1GiB,/etc/passwd)", "DIRECTORY: '/etc/passwd' given"},
      {"small_bypass(1GiB,)", "DIRECTORY: '' given"},
      {std::string("small_bypass(1,/etc\0x)", 22), "/etc\\x00x"},
      {"\xff\x1b[31m", "\\xff\\x1b[31m"},
  };
  for (const BadAdmission& bad : cases) {
    const auto made = make_admission(bad.spec, kContext);
    ASSERT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument) << bad.spec;
    const std::string message(made.status().message());
    EXPECT_NE(message.find(bad.named), std::string::npos) << message;
    EXPECT_NE(message.find("allowed"), std::string::npos) << message;
  }
}

TEST(AdmissionSpec, AnyBytesAreReadWithoutHarm) {
  const std::vector<std::string> pieces = {"obp",
                                           "(",
                                           ")",
                                           "+",
                                           ",",
                                           "0.1",
                                           "1e9",
                                           "window",
                                           "bytes",
                                           ":",
                                           "5",
                                           "-",
                                           " ",
                                           "probability",
                                           "small_bypass",
                                           "second_touch",
                                           "always",
                                           "1GiB",
                                           "/tmp",
                                           "nan",
                                           "lifetime",
                                           "\xff",
                                           std::string(1, '\0'),
                                           "9999999"};
  Prng prng(13);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string spec;
    for (uint64_t left = prng.below(12); left > 0; --left)
      spec += pieces[prng.below(pieces.size())];
    const auto made = make_admission(spec, kContext);
    if (made.ok()) {
      ++accepted;
      EXPECT_TRUE(make_admission((*made)->describe(), kContext).ok()) << (*made)->describe();
    } else {
      EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(AdmissionSpec, ALongSpecificationIsCutInTheMessage) {
  const auto made = make_admission(std::string(1'000'000, 'x'), kContext);
  EXPECT_LT(made.status().message().size(), 1000u);
}

}  // namespace
}  // namespace nvcache
