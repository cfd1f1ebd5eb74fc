// Compares a number of ours with what a paper states. Pure.
//
//   within 25%  each part is within a quarter of the published number, or of the ends of its range;
//               "up to" compares our most; "over" and "at least" hold from three quarters on. The
//               direction must hold as well
//   direction   our number lies on the same side of the baseline (0 for effects in %, 1 for ratios)
//               as the published one and is no less than a hundredth away from it, or a tenth of
//               the published effect if that is less; or the order of what is compared is the
//               published one
//   not         neither
//
// A published "no change" (the number is the baseline, or its range has the baseline within) has no
// relative size: up to 0.05 away (5 points of %) counts as within 25%, up to 0.10 as direction.
// A number from a machine or a size that absolute values cannot be compared with is direction at
// best (Ours::comparable).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/harness/paper_table.h"

namespace nvcache::reproduce {

using papers::Claim;
using papers::PaperResult;
using papers::Span;
using papers::Statement;

enum class Verdict : uint8_t { kWithin, kDirection, kNot, kInput, kNotMeasured };
std::string_view verdict_name(Verdict verdict);  // "within 25%", "direction", ...

struct Ours {
  std::vector<Span> parts;
  std::optional<bool> order;  // whether the order of what is compared is the published one
  bool comparable = true;     // absolute values, too
};

struct Judgement {
  Verdict verdict = Verdict::kNot;
  std::string reason;
};

// The number without an effect: 0 for "%", 1 for "x" and "ratio", none for other units.
std::optional<double> usual_baseline(std::string_view unit);

// `baseline`: none if only the size, or Ours::order, can be compared.
Judgement judge(const Statement& published, const Ours& ours, std::optional<double> baseline);

// Whether the numbers are the same, but for rounding: half a percent.
bool same_number(const Statement& published, const Ours& ours);

}  // namespace nvcache::reproduce
