// How a number of ours is judged beside a published one.
#include "experiments/reproduce/verdict.h"

#include <gtest/gtest.h>

namespace nvcache::reproduce {
namespace {

Ours made(std::vector<Span> parts) {
  return {.parts = std::move(parts), .order = std::nullopt, .comparable = true};
}
Ours made(double value) { return made({{.low = value, .high = value}}); }
Ours ours_with_order(double value, bool order) {
  Ours ours = made(value);
  ours.order = order;
  return ours;
}

Verdict verdict(const char* value, const char* unit, const Ours& ours) {
  const Statement published = papers::parse_statement(value, unit).value();
  return judge(published, ours, usual_baseline(published.unit)).verdict;
}
Verdict verdict(const char* value, const char* unit, double ours) {
  return verdict(value, unit, made(ours));
}

TEST(Verdict, AQuarterAwayIsWithinAndMoreIsNot) {
  EXPECT_EQ(verdict("20", "%", 25), Verdict::kWithin);
  EXPECT_EQ(verdict("20", "%", 15), Verdict::kWithin);
  EXPECT_EQ(verdict("20", "%", 25.1), Verdict::kDirection);
  EXPECT_EQ(verdict("20", "%", 14.9), Verdict::kDirection);
  EXPECT_EQ(verdict("2.85", "x", 2.97), Verdict::kWithin);
  EXPECT_EQ(verdict("2.85", "x", 1.4), Verdict::kDirection);
}

TEST(Verdict, TheOtherSignIsNot) {
  EXPECT_EQ(verdict("20", "%", -20), Verdict::kNot);
  EXPECT_EQ(verdict("2", "x", 0.9), Verdict::kNot);
  EXPECT_EQ(verdict("0.59", "ratio", 1.1), Verdict::kNot);
  EXPECT_EQ(verdict("0.59", "ratio", 0.59), Verdict::kWithin);
}

TEST(Verdict, HardlyAnEffectIsNone) {
  EXPECT_EQ(verdict("20", "%", 0), Verdict::kNot);
  EXPECT_EQ(verdict("20", "%", 0.9), Verdict::kNot);
  EXPECT_EQ(verdict("20", "%", 1), Verdict::kDirection);
  EXPECT_EQ(verdict("2", "x", 1.005), Verdict::kNot);
  // A tenth of a published effect that is smaller than ten points.
  EXPECT_EQ(verdict("0.1", "%", 0.02), Verdict::kDirection);
  EXPECT_EQ(verdict("0.1", "%", 0.005), Verdict::kNot);
}

TEST(Verdict, NoChangeHasNoRelativeSize) {
  EXPECT_EQ(verdict("0", "% (unchanged)", 0), Verdict::kWithin);
  EXPECT_EQ(verdict("0", "% (unchanged)", 5), Verdict::kWithin);
  EXPECT_EQ(verdict("0", "% (unchanged)", -7), Verdict::kDirection);
  EXPECT_EQ(verdict("0", "% (unchanged)", 11), Verdict::kNot);
  EXPECT_EQ(verdict("1", "x", 1.04), Verdict::kWithin);
  EXPECT_EQ(verdict("1", "x", 1.2), Verdict::kNot);
}

TEST(Verdict, ARangeIsWidenedAtItsEnds) {
  EXPECT_EQ(verdict("0.72-0.86", "ratio", made({{0.62, 0.81}})), Verdict::kWithin);
  EXPECT_EQ(verdict("0.72-0.86", "ratio", made({{0.50, 0.81}})), Verdict::kDirection);
  EXPECT_EQ(verdict("0.72-0.86", "ratio", made({{0.80, 1.20}})), Verdict::kNot);
  // With the baseline within: no change.
  const Statement parity = papers::parse_statement("93-102", "%").value();
  EXPECT_EQ(judge(parity, made({{98, 108}}), 100).verdict, Verdict::kWithin);
  EXPECT_EQ(judge(parity, made({{60, 70}}), 100).verdict, Verdict::kNot);
}

TEST(Verdict, UpToAndOver) {
  EXPECT_EQ(verdict("4.5", "x (up to)", 4.0), Verdict::kWithin);
  EXPECT_EQ(verdict("4.5", "x (up to)", 23), Verdict::kDirection);
  EXPECT_EQ(verdict("3", "x (over)", 4.6), Verdict::kWithin);
  EXPECT_EQ(verdict("3", "x (over)", 2.3), Verdict::kWithin);
  EXPECT_EQ(verdict("3", "x (over)", 1.4), Verdict::kDirection);
  EXPECT_EQ(verdict("1", "x (above)", 1.3), Verdict::kWithin);
  EXPECT_EQ(verdict("1", "x (above)", 0.97), Verdict::kNot);
}

TEST(Verdict, WithoutABaselineTheOrderDecides) {
  EXPECT_EQ(verdict("61699", "ops/s", ours_with_order(61000, true)), Verdict::kWithin);
  EXPECT_EQ(verdict("61699", "ops/s", ours_with_order(6100, true)), Verdict::kDirection);
  EXPECT_EQ(verdict("61699", "ops/s", ours_with_order(61000, false)), Verdict::kNot);
  EXPECT_EQ(verdict("61699", "ops/s", 61000), Verdict::kWithin);
  EXPECT_EQ(verdict("61699", "ops/s", 6100), Verdict::kNot);
}

TEST(Verdict, AbsoluteNumbersOfAScaledMachineAreDirectionAtBest) {
  Ours ours = ours_with_order(61699, true);
  ours.comparable = false;
  EXPECT_EQ(verdict("61699", "ops/s", ours), Verdict::kDirection);
}

TEST(Verdict, PartsAreComparedOneByOne) {
  const auto mix = [](double get, double set, double del) {
    return made({{get, get}, {set, set}, {del, del}});
  };
  EXPECT_EQ(verdict("1.78/98.22/0.00", "%", mix(1.8, 98.2, 0)), Verdict::kWithin);
  EXPECT_EQ(verdict("1.78/98.22/0.00", "%", mix(1.8, 98.2, 9)), Verdict::kNot);
  EXPECT_EQ(verdict("1.78/98.22/0.00", "%", made({{1.78, 1.78}})), Verdict::kNot);
}

TEST(Verdict, WithoutANumberNothingIsJudged) {
  EXPECT_EQ(verdict("12", "GB/s", made(std::vector<Span>{})), Verdict::kNotMeasured);
}

TEST(Verdict, UnitsHaveTheirBaseline) {
  EXPECT_EQ(usual_baseline("%"), 0);
  EXPECT_EQ(usual_baseline("x"), 1);
  EXPECT_EQ(usual_baseline("ratio"), 1);
  EXPECT_EQ(usual_baseline("GB/s"), std::nullopt);
}

TEST(Verdict, TheSameNumberButForRounding) {
  const Statement published = papers::parse_statement("18", "%").value();
  EXPECT_TRUE(same_number(published, made(18.05)));
  EXPECT_FALSE(same_number(published, made(18.2)));
  EXPECT_FALSE(same_number(papers::parse_statement("40 / 0", "GB").value(), made(40)));
  EXPECT_TRUE(
      same_number(papers::parse_statement("40 / 0", "GB").value(), made({{40, 40}, {0, 0}})));
}

}  // namespace
}  // namespace nvcache::reproduce
