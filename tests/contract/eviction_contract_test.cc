// nvcache's own eviction policies keep what every policy promises, and the parser of specifications
// names mistakes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "nvcache/contracts/eviction_policy_contract.h"
#include "policy/eviction/make_eviction.h"
#include "policy/eviction/table.h"

namespace nvcache {
namespace {

// A row of the table as the promises of the suite.
EvictionPromises promises_of(const EvictionRow& row, std::string_view spec) {
  return {.name = std::string(row.name),
          .make =
              [spec](uint32_t max_slots) {
                return make_eviction(spec, {.max_slots = max_slots}).value();
              },
          .bytes_per_slot = row.bytes_per_slot,
          .evicts = row.evicts,
          .spares_used = row.spares_used,
          .keeps_used = row.evicts && row.spares_used};
}

std::vector<EvictionPromises> eviction_promises() {
  std::vector<EvictionPromises> all;
  for (const EvictionRow& row : kEvictionPolicies) all.push_back(promises_of(row, row.example));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Policies, EvictionPolicyContract, ::testing::ValuesIn(eviction_promises()),
                         [](const auto& instance) { return instance.param.name; });

// A row's policy with other arguments.
EvictionPromises with(std::string_view name, std::string_view spec) {
  return promises_of(*std::ranges::find(kEvictionPolicies, name, &EvictionRow::name), spec);
}

INSTANTIATE_TEST_SUITE_P(Arguments, EvictionPolicyContract,
                         ::testing::Values(with("lfru", "lfru(1.5)"), with("tinylfu", "tinylfu(1)"),
                                           with("auto", "auto(0)")),
                         [](const auto& instance) { return instance.param.name; });

struct BadSpec {
  std::string spec;
  std::string named;  // what the message must name
};

TEST(EvictionSpec, AMistakeIsNamedWithWhatIsAllowed) {
  const BadSpec cases[] = {
      {"", "no name given"},
      {"lrux", "'lrux'"},
      {"LRU", "'LRU'"},
      {"lru(1)", "1 argument"},
      {"none(1,2)", "2 argument"},
      {"lru+clock", "2 policies given"},
      {"lfru(soon)", "WINDOW_SECONDS: 'soon' given; allowed: a number from 0.001"},
      {"lfru(0)", "'0' given"},
      {"lfru(nan)", "'nan' given"},
      {"tinylfu(0)", "PERIOD: '0' given; allowed: a number from 1"},
      {"tinylfu(8,8)", "2 argument"},
      {"auto(-1)", "INSERT_COST: '-1' given; allowed: a number from 0 to 100"},
      {"lfru(1", "no ')'"},
      {"lfru(1)x", "no ')'"},
      {"lfru((1))", "'lfru((1))'"},
      {std::string("lr\0u\x01", 5), "lr\\x00u\\x01"},
  };
  for (const BadSpec& bad : cases) {
    const auto made = make_eviction(bad.spec, {});
    ASSERT_EQ(made.status().code(), StatusCode::kInvalidArgument) << bad.spec;
    const std::string message(made.status().message());
    EXPECT_NE(message.find(bad.named), std::string::npos) << message;
    EXPECT_NE(message.find("allowed"), std::string::npos) << message;
  }
}

TEST(EvictionSpec, WhiteSpaceIsIgnored) {
  for (const std::string spec : {" lru ", "lru()", "lfru ( 2.5 )", "tinylfu(16)", "\tclock\n"}) {
    EXPECT_TRUE(make_eviction(spec, {}).ok()) << spec;
  }
}

TEST(EvictionSpec, AnyBytesAreReadWithoutHarm) {
  const std::string alphabet("lfru(),+ 0.91e-s3ioc\0\xff", 22);
  Prng prng(11);
  for (int i = 0; i < 20'000; ++i) {
    std::string spec = prng.below(2) == 0 ? "lfru(" : "";
    for (uint64_t left = prng.below(12); left > 0; --left) {
      spec += alphabet[prng.below(alphabet.size())];
    }
    const auto made = make_eviction(spec, {.max_slots = 16});
    if (!made.ok()) {
      EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace nvcache
