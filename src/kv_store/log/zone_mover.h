// Moves the survivors of a zone to its start and gives them descriptors of its next version, in
// steps that a kill can come between at any point: the next opening of the store goes on from what
// the zone's header says (kv_store/recovery/unfinished_cleaning.h).
//
// An item moves in pieces no longer than its way, so that no piece overwrites what is not copied
// yet. The header says after each how far it is.
//
// The caller holds the cleaning lock and keeps others from pinning the zone; takes locks of
// stripes, one at a time. Flushes nothing, but with `each` all that it writes. Does not own the
// parts. Costs a copy of what moves, and a word in the header for each piece: an item of 1 MiB that
// moves by 8 bytes has 131,072 of them.
#pragma once

#include <cstdint>
#include <vector>

#include "kv_store/log/parts.h"
#include "kv_store/log/zone_survey.h"

namespace nvcache {

class ZoneMover {
 public:
  // The move of an item. `to` is an offset in the zone, at or before the item's own.
  struct Move {
    Survivor item;
    uint64_t to = 0;
    KvDescriptor descriptor;
  };
  struct Done {
    uint64_t items = 0;  // that have their new descriptors
    uint64_t item_bytes = 0;
    uint64_t moved = 0;
    uint64_t moved_bytes = 0;
  };

  // `version` is the zone's until the cleaning ends; `attempt` is 0, or that of an opening.
  ZoneMover(KvParts& parts, uint64_t zone, uint64_t version, uint32_t attempt)
      : parts_(parts), zone_(zone), version_(version), attempt_(attempt) {}

  // The descriptor of a later version, of an item that moves to an offset, or stays.
  KvDescriptor descriptor_for(const Survivor& item, uint64_t to, uint32_t version) const;

  // Says that nothing has moved yet, before anything does. False if the medium failed.
  [[nodiscard]] bool begin(uint64_t to, uint64_t from);
  // Carries moves out, in the order of their offsets.
  Done run(const std::vector<Move>& moves);
  // Copies bytes of one item.
  void move_bytes(uint64_t to, uint64_t from, uint64_t size_bytes);
  // After an item moved: its time of expiry carries a check that depends on its address.
  void rebind(uint64_t to);

 private:
  std::byte* at(uint64_t offset) const {
    return parts_.memory.at(parts_.geometry.zone_at(zone_) + offset);
  }
  void note(uint64_t to, uint64_t from);
  bool publish(const Move& move);

  KvParts& parts_;
  const uint64_t zone_;
  const uint64_t version_;
  const uint32_t attempt_;
};

}  // namespace nvcache
