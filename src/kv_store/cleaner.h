// Cleaning evicts and reclaims space in one step: a zone is cleaned when it is opened for new
// items.
//
// The paper cleans the oldest zone, and evicts its items that were not used lately (NVMcached,
// section 3.3). That loses items from a store with room to spare. So as long as the live items fill
// less than kFullShare of the zones, the zone with the most garbage is cleaned, of a sample, and
// all its live items stay. In a fuller store, and with `cleaning=paper`, the paper's rule holds.
//
// One flush makes the zone's new version durable before anybody relies on it. That voids
// all of the zone's descriptors at once. The survivors (kv_store/zone_survey.h) then get
// descriptors of the new version. A crash in between may lose survivors, as it may lose the
// newest insertions; it brings nothing back.
//
// The caller of clean() holds the space lock; the cleaner takes locks of stripes, one at a
// time. Does not own the parts. Cost in DRAM: a copy of the survivors that move, less than a zone.
// At a fill of 80% it copies 1.1 to 1.4 bytes for each new one (the four mixes of KvLive).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "base/prng.h"
#include "kv_store/parts.h"
#include "kv_store/zone_survey.h"

namespace nvcache {

class Cleaner final : public ZoneCleaner {
 public:
  static constexpr double kFullShare = 0.85;

  explicit Cleaner(KvParts& parts) : parts_(parts) {}

  size_t choose(const std::deque<uint64_t>& full, uint64_t item_bytes) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.zones.space_mutex());
  bool clean(uint64_t zone, uint64_t item_bytes) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.zones.space_mutex());

  // Gives all zones a new version, so that no stored item can be found. Open zones stay open
  // and keep their cursor, because readers may still hold items in them.
  // Takes the space lock. DATA_LOSS if the medium fails.
  [[nodiscard]] absl::Status renew_all();

  // Clears the descriptors that have any version of these zones, and flushes the table.
  void clear_descriptors(const std::vector<bool>& zones);

 private:
  bool keeps_live() const;
  uint64_t most_kept_bytes(uint64_t item_bytes) const;
  CleaningRule rule_for(uint64_t zone, uint64_t item_bytes) const;
  uint64_t next_version(uint64_t zone, uint64_t version);
  void revive(uint64_t zone, uint64_t version, const CleaningPlan& plan)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.zones.space_mutex());
  void relocate(uint64_t to, const CleaningPlan& plan)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.zones.space_mutex());
  void revive_one(uint64_t zone, const Survivor& survivor, const KvDescriptor& descriptor);

  KvParts& parts_;
  std::vector<std::byte> scratch_;  // under the space lock
  Prng random_{1};                  // under the space lock
};

}  // namespace nvcache
