// Plans which items of a zone survive its cleaning: all that live, or those that were used lately
// (NVMcached, section 3.3).
//
// The items that the last cleaning kept lie before the zone's hot line. They stay in place if all
// of them live, or, in the paper's cleaning, if four fifths of them are still in use, and if no
// crash left a hole between them. Else all that survives is relocated.
//
// Reads every item's header and changes nothing. The caller holds the cleaning lock, so that
// no other thread cleans the zone. Descriptors may change: the cleaner compares them
// again.
#pragma once

#include <cstdint>
#include <vector>

#include "kv_store/format/layout.h"
#include "kv_store/log/parts.h"
#include "kv_store/log/zone_walk.h"

namespace nvcache {

// Of the hot set still in use: then it stays in place (NVMcached, section 3.3).
inline constexpr double kKvStableShare = 0.8;

struct CleaningPlan {
  uint64_t expired = 0;     // items that had expired, but were not gone yet
  uint64_t live_items = 0;  // that descriptors lead to, those that had expired included
  uint64_t live_bytes = 0;
  uint64_t without_room = 0;  // items that should survive, and do not fit
  bool keeps_hot_set = false;
  uint64_t hot_line = 0;  // end of the items that stay in place
  std::vector<Survivor> kept;
  std::vector<Survivor> relocated;
  std::vector<Survivor> evicted;  // the other live items, if the rule wants them listed

  uint64_t relocated_bytes() const {
    uint64_t bytes = 0;
    for (const Survivor& each : relocated) bytes += each.size_bytes;
    return bytes;
  }
};

// Survivors have at most `keep_bytes`. `live`: unused items survive, too; if there is no room
// for all, those used last.
struct CleaningRule {
  bool live = false;
  uint64_t keep_bytes = 0;
  bool lists_evicted = false;
};
[[nodiscard]] CleaningPlan plan_cleaning(const KvParts& parts, uint64_t zone, uint64_t hot_line,
                                         const CleaningRule& rule);

// The items of a zone that have expired, but are not gone yet. `next_s`: when the next one expires;
// UINT32_MAX if none does. As plan_cleaning().
[[nodiscard]] std::vector<Survivor> find_expired(const KvParts& parts, uint64_t zone,
                                                 uint32_t* next_s);

// Of items in use, those used last, as many as `room_bytes` hold; in their order.
[[nodiscard]] std::vector<Survivor> choose_survivors(std::vector<Survivor> hot,
                                                     uint64_t room_bytes);

}  // namespace nvcache
