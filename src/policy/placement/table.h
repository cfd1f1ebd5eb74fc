// The table of placement policies. To add one: write its file in this folder, declare its factory
// here, and add its row (see CONTRIBUTING.md). Thread-safe: constants, and stateless policies.
#pragma once

#include <array>
#include <memory>

#include "nvcache/status_or.h"
#include "policy/parts/policy_table.h"
#include "policy/placement/placement_policy.h"
#include "spec/spec.h"

namespace nvcache {

using PlacementOr = StatusOr<std::unique_ptr<PlacementPolicy>>;

// Each factory checks its own arguments.
PlacementOr make_dram_first(const SpecMember& member);
PlacementOr make_scm_first(const SpecMember& member);
PlacementOr make_bidirectional(const SpecMember& member);

// See parts/policy_table.h.
struct PlacementRow {
  std::string_view name;
  std::string_view usage;
  std::string_view example;
  PlacementOr (*make)(const SpecMember& member);
};

inline constexpr auto kPlacementPolicies = std::to_array<PlacementRow>({
    {"dram_first", "dram_first", "dram_first", make_dram_first},
    {"scm_first", "scm_first, scm_first(THRESHOLD), scm_first(THRESHOLD,adaptive)", "scm_first(2)",
     make_scm_first},
    {"bidirectional", "bidirectional, bidirectional(THRESHOLD), bidirectional(THRESHOLD,adaptive)",
     "bidirectional(4,adaptive)", make_bidirectional},
});

inline constexpr std::string_view kPlacement = "policy";  // in errors

// The arguments of the policies that promote: [THRESHOLD[,adaptive]].
struct PromotionArguments {
  uint32_t threshold = 0;
  bool adaptive = false;

  std::string describe() const;
};
StatusOr<PromotionArguments> parse_promotion(const SpecMember& member, uint32_t default_threshold);

}  // namespace nvcache
