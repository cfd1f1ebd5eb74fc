// Cleaning evicts and reclaims space in one step: a zone is cleaned when it is opened for new
// items, and the items that were not used lately are evicted (NVMcached, section 3.3).
//
// One flush makes the zone's new version durable before anybody relies on it. That voids
// all of the zone's descriptors at once. The survivors (kv_store/zone_survey.h) then get
// descriptors of the new version. A crash in between may lose survivors, as it may lose the
// newest insertions; it brings nothing back.
//
// The caller of clean() holds the space lock; the cleaner takes locks of stripes, one at a
// time. Does not own the parts. Cost in DRAM: a copy of the survivors that move, at most half a
// zone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kv_store/parts.h"
#include "kv_store/zone_survey.h"

namespace nvcache {

class Cleaner final : public ZoneCleaner {
 public:
  explicit Cleaner(KvParts& parts) : parts_(parts) {}

  bool clean(uint64_t zone) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.zones.space_mutex());

  // Gives all zones a new version, so that no stored item can be found. Open zones stay open
  // and keep their cursor, because readers may still hold items in them.
  // Takes the space lock. DATA_LOSS if the medium fails.
  [[nodiscard]] absl::Status renew_all();

  // Clears the descriptors that have any version of these zones, and flushes the table.
  void clear_descriptors(const std::vector<bool>& zones);

 private:
  uint64_t next_version(uint64_t zone, uint64_t version);
  void revive(uint64_t zone, uint64_t version, const CleaningPlan& plan)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.zones.space_mutex());
  void relocate(uint64_t to, const CleaningPlan& plan)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.zones.space_mutex());
  void revive_one(uint64_t zone, const Survivor& survivor, const KvDescriptor& descriptor);

  KvParts& parts_;
  std::vector<std::byte> scratch_;  // under the space lock
};

}  // namespace nvcache
