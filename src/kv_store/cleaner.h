// Cleaning, where replacement and reclamation are one: a zone is cleaned when it is opened
// for new items, and what was not used lately goes (NVMcached, section 3.3).
//
// The zone's new version is durable before anybody acts on it, with one flush. That makes
// all of the zone's descriptors void at once; then the survivors (kv_store/zone_survey.h)
// get descriptors of the new version. A crash in between costs survivors, as it costs the
// newest insertions, and brings nothing back.
//
// Called under the space lock; takes the locks of stripes, one at a time. Does not own the
// parts. Cost in DRAM: a copy of the survivors that move, at most half a zone.
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

  // Gives all zones a new version: nothing that is stored can be found any more. Zones
  // that are open stay so, behind what is in them, because readers may still hold it.
  [[nodiscard]] absl::Status renew_all() ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.zones.space_mutex());

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
