// The placement policies that make_placement() looks up by name. Thread-safe.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "policy/placement/placement_policy.h"
#include "spec/spec.h"

namespace nvcache {

using PlacementOr = absl::StatusOr<std::unique_ptr<PlacementPolicy>>;

PlacementOr make_dram_first(const SpecMember& member);
PlacementOr make_scm_first(const SpecMember& member);
PlacementOr make_bidirectional(const SpecMember& member);

// What the policies that promote take: [THRESHOLD[,adaptive]].
struct PromotionArguments {
  static constexpr uint32_t kMaxThreshold = 254;  // references are counted in a byte

  uint32_t threshold = 0;
  bool adaptive = false;

  std::string describe() const;
};
absl::StatusOr<PromotionArguments> parse_promotion(const SpecMember& member,
                                                   uint32_t default_threshold);

inline constexpr std::string_view kPlacement = "policy";

}  // namespace nvcache
