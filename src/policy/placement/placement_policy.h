// Decides in which tier of a TieredCache a block lives: where it enters, and after how
// many references it climbs. What leaves a tier always goes to the next one below;
// what leaves the lowest is gone. Each policy is a file of this folder;
// `make_placement` makes one by name.
//
// The policies are those of "Improving Performance of Flash Based Key-Value Stores
// Using Storage Class Memory as a Volatile Memory Extension" (ATC '21), section 4.2,
// for any number of tiers: "DRAM" is the tier above, "SCM" the one below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace nvcache {

// Thread-safe: stateless.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;

  // The tier, 0 being the fastest, that a new block enters; `tiers` of them exist.
  virtual size_t entry_tier(size_t tiers) const = 0;

  // References in one tier beyond which a block moves to the tier above; 0: it never does.
  virtual uint32_t threshold() const = 0;

  // Whether thresholds shrink while the tier above has room (section 4.2.3: "can be
  // set to change values based on the current usage of the caches").
  virtual bool follows_use() const = 0;

  virtual std::string describe() const = 0;
};

// The threshold in force where the tier above is `used_share` [0..1] full:
// max(1, round(threshold * used_share)), so that blocks climb at once into an empty tier
// and the configured threshold holds for a full one; 0 stays 0. The paper gives no formula.
uint32_t threshold_in_use(uint32_t threshold, double used_share);

// Makes one policy by specification:
//   dram_first | scm_first[(THRESHOLD[,adaptive])] | bidirectional[(THRESHOLD[,adaptive])]
// Default thresholds: 6 and 4, the paper's best (section 6.1). INVALID_ARGUMENT names
// what was given and what is allowed.
[[nodiscard]] absl::StatusOr<std::unique_ptr<PlacementPolicy>> make_placement(
    std::string_view spec);

}  // namespace nvcache
