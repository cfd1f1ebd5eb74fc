// Reads a placement specification. Grammar: spec/spec.h. Accepts any bytes.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "policy/placement/table.h"

namespace nvcache {
std::string PromotionArguments::describe() const {
  return fmt::format("({}{})", threshold, adaptive ? ",adaptive" : "");
}

StatusOr<PromotionArguments> parse_promotion(const SpecMember& member, uint32_t default_threshold) {
  PromotionArguments parsed{.threshold = default_threshold};
  const auto bad = [&] {
    return bad_member(kPlacement, member,
                      fmt::format("allowed: {0}, {0}(THRESHOLD), {0}(THRESHOLD,adaptive) with a "
                                  "threshold of 1 to {1} references",
                                  member.name, +PlacementPolicy::kMaxThreshold));
  };
  if (member.arguments.size() > 2) return bad();
  if (!member.arguments.empty()) {
    const std::string_view text = member.arguments[0];
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, parsed.threshold);
    if (error != std::errc() || stop != end || parsed.threshold < 1 ||
        parsed.threshold > PlacementPolicy::kMaxThreshold) {
      return bad();
    }
  }
  if (member.arguments.size() == 2) {
    if (member.arguments[1] != "adaptive") return bad();
    parsed.adaptive = true;
  }
  return parsed;
}

uint32_t threshold_in_use(uint32_t threshold, double used_share) {
  if (threshold == 0) return 0;
  const double scaled = std::round(threshold * std::clamp(used_share, 0.0, 1.0));
  return std::max(1u, static_cast<uint32_t>(scaled));
}

StatusOr<std::unique_ptr<PlacementPolicy>> make_placement(std::string_view spec) {
  return make_only_policy(kPlacement, spec, kPlacementPolicies, "");
}

}  // namespace nvcache
