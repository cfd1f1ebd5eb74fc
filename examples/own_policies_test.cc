// The policies of own_policies.cc keep what every policy promises. The suites come with nvcache.
#include <gtest/gtest.h>
#include <nvcache/contracts/admission_policy_contract.h>
#include <nvcache/contracts/eviction_policy_contract.h>
#include <nvcache/policies.h>

#include <map>
#include <string>
#include <string_view>

namespace own {
nvcache::Status add_policies(nvcache::PolicyRegistry& registry);
}

namespace nvcache {
namespace {

// Keeps the kinds, so that the tests make policies without a cache.
class Kinds final : public PolicyRegistry {
 public:
  Kinds() { EXPECT_TRUE(own::add_policies(*this).ok()); }
  Status add(AdmissionKind kind) override {
    admissions[kind.name] = kind;
    return ok_status();
  }
  Status add(EvictionKind kind) override {
    evictions[kind.name] = kind;
    return ok_status();
  }
  std::map<std::string, AdmissionKind> admissions;
  std::map<std::string, EvictionKind> evictions;
};

INSTANTIATE_TEST_SUITE_P(UpTo, AdmissionPolicyContract,
                         ::testing::Values(AdmissionPromises{
                             .name = "up_to",
                             .make = [] { return *Kinds().admissions["up_to"].make({}, {}); }}));

INSTANTIATE_TEST_SUITE_P(
    Coldest, EvictionPolicyContract,
    ::testing::Values(EvictionPromises{
        .name = "coldest",
        .make = [](uint32_t slots) { return *Kinds().evictions["coldest"].make({}, slots); },
        .bytes_per_slot = 1.1}));

TEST(OwnPolicies, NameWhatIsAllowed) {
  const std::string_view bad[] = {"1000", "0", "x", ""};
  for (const std::string_view& argument : bad) {
    const auto made = Kinds().evictions["coldest"].make({&argument, 1}, 0);
    EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument) << argument;
  }
}

}  // namespace
}  // namespace nvcache
