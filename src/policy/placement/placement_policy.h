// Decides in which tier of a TieredCache a block lives: where it enters, and after how many
// references it is promoted. A block that leaves a tier is always demoted to the next; a block that
// leaves the lowest tier is gone. Each policy is a file of this folder and a row of table.h.
//
// The policies are those of *Hybrid Cache* ("Improving Performance of Flash Based Key-Value Stores
// Using Storage Class Memory as a Volatile Memory Extension", ATC '21), section 4.2, for any number
// of tiers. Its DRAM is the tier above here, its SCM the tier below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "nvcache/status_or.h"

namespace nvcache {

// Thread-safe: stateless.
class PlacementPolicy {
 public:
  static constexpr uint32_t kMaxThreshold = 254;  // references are counted in a byte

  virtual ~PlacementPolicy() = default;

  // The tier that a new block enters, of `tiers` tiers. Tier 0 is the fastest.
  virtual size_t entry_tier(size_t tiers) const = 0;

  // A block with more references than this in one tier is promoted by one tier. 0: never.
  virtual uint32_t threshold() const = 0;

  // Whether thresholds shrink while the tier above has room (section 4.2.3: "can be set to change
  // values based on the current usage of the caches").
  virtual bool follows_use() const = 0;

  virtual std::string describe() const = 0;
};

// The threshold in force while the tier above is `used_share` [0..1] full:
// max(1, round(threshold * used_share)). So blocks are promoted at once into an empty tier, and the
// configured threshold holds for a full one. 0 stays 0. *Hybrid Cache* gives no formula.
uint32_t threshold_in_use(uint32_t threshold, double used_share);

// Makes the policy that `spec` names; table.h lists them. INVALID_ARGUMENT names what was given and
// what is allowed.
[[nodiscard]] StatusOr<std::unique_ptr<PlacementPolicy>> make_placement(std::string_view spec);

}  // namespace nvcache
