// nvcache's own admission policies, alone and composed, keep what every policy promises; and what
// the parser of specifications says about mistakes.
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "base/prng.h"
#include "nvcache/contracts/admission_policy_contract.h"
#include "policy/admission/make_admission.h"
#include "policy/admission/table.h"

namespace nvcache {
namespace {

constexpr AdmissionContext kContext{.cache_size_bytes = 64 << 20, .seed = 5};

std::unique_ptr<AdmissionPolicy> make(std::string_view spec) {
  return make_admission(spec, kContext).value();
}

AdmissionPromises promises_of(const std::string& spec) {
  std::string name;
  for (const char c : spec) name += std::isalnum(c) != 0 ? c : '_';
  return {.name = name,
          .make = [spec] { return make(spec); },
          .make_again = [](const std::string& description) { return make(description); }};
}

std::vector<AdmissionPromises> admission_promises() {
  std::vector<AdmissionPromises> all;
  for (const AdmissionRow& row : kAdmissionPolicies) {
    all.push_back(promises_of(std::string(row.example)));
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Policies, AdmissionPolicyContract,
                         ::testing::ValuesIn(admission_promises()),
                         [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Arguments, AdmissionPolicyContract,
    ::testing::Values(
        promises_of("obp(0.3,window)"), promises_of("obp(0.3,window:500,bytes)"),
        promises_of("obp(0.29,lifetime,bytes)"), promises_of("small_bypass(0,/etc)"),
        promises_of("small_bypass(1000)+obp+second_touch+probability(0.5)+no_write_allocate")),
    [](const auto& instance) { return instance.param.name; });

TEST(AdmissionChain, EveryMemberSeesEveryCandidateAndTheFirstRefusalCounts) {
  OfferedTraffic cache(make("obp(0.1)+second_touch"));
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
    ASSERT_EQ(made.status().code(), StatusCode::kInvalidArgument) << bad.spec;
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
      EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument);
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
