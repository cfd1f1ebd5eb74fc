#include "experiments/reproduce/verdict.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace nvcache::reproduce {
namespace {

constexpr double kWithin = 0.25;
constexpr double kSame = 0.005;
constexpr double kLeastEffect = 0.01;    // of the baseline's scale
constexpr double kLeastShare = 0.1;      // of the published effect
constexpr double kNoEffect = 0.05;       // of the baseline's scale
constexpr double kHardlyEffect = 0.10;   // of the baseline's scale
constexpr double kNothingOfMost = 0.01;  // a part that is 0 beside others

// Effects in % are counted in points: a hundred of them are what 1 is to a ratio.
double scale_of(double baseline) { return baseline == 1 ? 1 : 100; }

bool is_no_effect(const Statement& published, double baseline) {
  if (published.parts.size() != 1 || published.claim != Claim::kEquals) return false;
  return published.parts[0].low <= baseline && published.parts[0].high >= baseline;
}

// The greatest absolute value of all parts: by it a part that is 0 is judged.
double most_of(const Statement& published) {
  double most = 0;
  for (const Span& part : published.parts) most = std::max(most, std::abs(part.high));
  return most;
}

bool part_within(const Span& published, const Span& ours, Claim claim, double share,
                 double allowance) {
  const double below = std::max(std::abs(published.low) * share, allowance);
  const double above = std::max(std::abs(published.high) * share, allowance);
  constexpr double kRounding = 1e-9;
  if (ours.low < published.low - below - kRounding) return false;
  return claim == Claim::kAtLeast || ours.high <= published.high + above + kRounding;
}

bool all_within(const Statement& published, const Ours& ours, double share) {
  if (published.parts.size() != ours.parts.size()) return false;
  const double allowance = published.parts.size() > 1 ? most_of(published) * kNothingOfMost : 0;
  for (size_t i = 0; i < ours.parts.size(); ++i) {
    if (!part_within(published.parts[i], ours.parts[i], published.claim, share, allowance)) {
      return false;
    }
  }
  return true;
}

Judgement judge_no_effect(const Statement& published, const Ours& ours, double baseline) {
  const double away =
      std::max(std::abs(ours.parts[0].low - baseline), std::abs(ours.parts[0].high - baseline)) /
      scale_of(baseline);
  const bool in_range = !published.parts[0].one() && all_within(published, ours, kWithin);
  if (in_range) return {Verdict::kWithin, "about the baseline, as published"};
  if (away <= kNoEffect + 1e-9) return {Verdict::kWithin, "no change, as published"};
  if (away <= kHardlyEffect + 1e-9) return {Verdict::kDirection, "hardly a change"};
  return {Verdict::kNot, fmt::format("published is no change, ours is one of {:.0f}%", 100 * away)};
}

// On the published side of the baseline, and far enough from it; both ends.
bool on_its_side(const Span& published, const Span& ours, double baseline, double scale) {
  const double middle = (published.low + published.high) / 2 - baseline;
  const double sign = middle < 0 ? -1 : 1;
  double least = kLeastEffect * scale;
  if (middle != 0) least = std::min(least, std::abs(middle) * kLeastShare);
  return sign * (ours.low - baseline) >= least && sign * (ours.high - baseline) >= least;
}

// "0.47 of the published effect"
std::string size_text(const Span& published, const Span& ours, double baseline) {
  const double whole = (published.low + published.high) / 2 - baseline;
  if (whole == 0) return "an effect of the published sign";
  const double share = ((ours.low + ours.high) / 2 - baseline) / whole;
  return fmt::format("{:.2f} of the published effect", share);
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kWithin:
      return "within 25%";
    case Verdict::kDirection:
      return "direction";
    case Verdict::kNot:
      return "not";
    case Verdict::kInput:
      return "input";
    case Verdict::kNotMeasured:
      break;
  }
  return "not measured";
}

std::optional<double> usual_baseline(std::string_view unit) {
  if (unit == "%") return 0;
  if (unit == "x" || unit == "ratio") return 1;
  return std::nullopt;
}

Judgement judge(const Statement& published, const Ours& ours, std::optional<double> baseline) {
  if (ours.parts.empty()) return {Verdict::kNotMeasured, "no number"};
  if (published.parts.size() > 1 || ours.parts.size() > 1) baseline = std::nullopt;
  if (baseline && is_no_effect(published, *baseline)) {
    return judge_no_effect(published, ours, *baseline);
  }
  if (ours.order && !*ours.order) return {Verdict::kNot, "the order is not the published one"};
  const bool sided =
      baseline && on_its_side(published.parts[0], ours.parts[0], *baseline, scale_of(*baseline));
  if (baseline && !ours.order && !sided) {
    return {Verdict::kNot, "the sign is not the published one, or there is hardly an effect"};
  }
  const bool within = all_within(published, ours, kWithin);
  if (within && ours.comparable) return {Verdict::kWithin, ""};
  if (ours.order) {
    return {Verdict::kDirection, ours.comparable ? "the order is the published one"
                                                 : "the order is the published one; the size "
                                                   "cannot be compared"};
  }
  if (sided) {
    return {Verdict::kDirection, size_text(published.parts[0], ours.parts[0], *baseline)};
  }
  return {Verdict::kNot, "more than a quarter away, and no order to compare"};
}

bool same_number(const Statement& published, const Ours& ours) {
  if (published.parts.size() != ours.parts.size()) return false;
  Statement exact = published;
  exact.claim = Claim::kEquals;
  for (size_t i = 0; i < ours.parts.size(); ++i) {
    if (!part_within(exact.parts[i], ours.parts[i], exact.claim, kSame, 0)) return false;
  }
  return true;
}

}  // namespace nvcache::reproduce
