// The promises of every placement policy, and the messages of the parser of specifications about
// mistakes.
#include <gtest/gtest.h>

#include <string>

#include "policy/placement/table.h"

namespace nvcache {

void PrintTo(const PlacementRow& row, std::ostream* out) { *out << row.example; }

namespace {

class PlacementContract : public ::testing::TestWithParam<PlacementRow> {
 protected:
  std::unique_ptr<PlacementPolicy> make() const {
    return make_placement(GetParam().example).value();
  }
};

TEST_P(PlacementContract, ItsDescriptionMakesItAgain) {
  const std::string description = make()->describe();
  const auto again = make_placement(description);
  ASSERT_TRUE(again.ok()) << description << ": " << again.status().message();
  EXPECT_EQ((*again)->describe(), description);
}

TEST_P(PlacementContract, ANewBlockEntersATierThatExists) {
  for (size_t tiers = 1; tiers <= 8; ++tiers) EXPECT_LT(make()->entry_tier(tiers), tiers);
}

// References are counted in a byte, up to 255.
TEST_P(PlacementContract, AThresholdCanBePassed) {
  EXPECT_LE(make()->threshold(), PlacementPolicy::kMaxThreshold);
}

INSTANTIATE_TEST_SUITE_P(Policies, PlacementContract, ::testing::ValuesIn(kPlacementPolicies),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(PlacementSpec, DefaultsAreSpelledOut) {
  EXPECT_EQ(make_placement("dram_first").value()->describe(), "dram_first");
  EXPECT_EQ(make_placement("scm_first").value()->describe(), "scm_first(6)");
  EXPECT_EQ(make_placement(" bidirectional( ) ").value()->describe(), "bidirectional(4)");
}

TEST(PlacementSpec, AMistakeIsNamedWithWhatIsAllowed) {
  struct Case {
    std::string spec;
    std::string named;
  };
  const Case cases[] = {
      {"", "no name given"},
      {"scm_last", "'scm_last'"},
      {"dram_first(1)", "1 argument"},
      {"dram_first+scm_first", "2 policies given"},
      {"scm_first(0)", "threshold of 1 to 254"},
      {"scm_first(255)", "threshold of 1 to 254"},
      {"bidirectional(4,eager)", "bidirectional(THRESHOLD,adaptive)"},
      {"bidirectional(4,adaptive,4)", "bidirectional(THRESHOLD,adaptive)"},
  };
  for (const Case& bad : cases) {
    const auto made = make_placement(bad.spec);
    ASSERT_EQ(made.status().code(), StatusCode::kInvalidArgument) << bad.spec;
    const std::string message(made.status().message());
    EXPECT_NE(message.find(bad.named), std::string::npos) << message;
    EXPECT_NE(message.find("allowed"), std::string::npos) << message;
  }
}

TEST(PlacementThreshold, ShrinksWithTheRoomInTheTierAbove) {
  EXPECT_EQ(threshold_in_use(0, 1), 0u);
  EXPECT_EQ(threshold_in_use(4, 0), 1u);
  EXPECT_EQ(threshold_in_use(4, 0.5), 2u);
  EXPECT_EQ(threshold_in_use(4, 1), 4u);
  EXPECT_EQ(threshold_in_use(4, 7), 4u) << "a share is at most 1";
}

}  // namespace
}  // namespace nvcache
