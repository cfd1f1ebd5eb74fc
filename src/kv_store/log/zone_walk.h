// Walks the items of a zone in the order in which they lie.
//
// Room for an item is taken before its header is written. In a zone that was opened since the
// store was, every header is there by the time that the zone can be cleaned: the walk goes from
// header to header, over items without a descriptor, too.
//
// In a zone that was there at the opening, a kill may have left room without a header, and a loss
// of power torn ones; what lies there may look like items of former times. There only a descriptor
// proves an item, together with the checksum of all its bytes. From anywhere else the walk goes on
// by a grain, until it finds the next one: no item is lost because of what lies before it. Where
// descriptors may be torn (KvParts), checksums are compared in all zones.
//
// Changes nothing. The caller holds the cleaning lock, or is alone with the store. Does not own the
// parts. Costs a cache miss for each header and each bucket; before the first cleaning after an
// opening also a read of all live items and 3 ns for each grain of the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kv_store/format/layout.h"
#include "kv_store/log/parts.h"

namespace nvcache {

// An item that a descriptor leads to.
struct Survivor {
  uint64_t slot = 0;
  uint64_t hash = 0;
  KvDescriptor descriptor;
  uint64_t offset = 0;  // in the zone
  uint64_t size_bytes = 0;
  uint32_t age = 0;
};

struct WalkedItem {
  KvItemView item;
  Survivor found;     // its slot and descriptor are set if
  bool live = false;  // a descriptor of the zone's present version leads to it
};

class ZoneWalk {
 public:
  ZoneWalk(const KvParts& parts, uint64_t zone);

  // The next few items, valid until the next call; none at the end.
  std::span<const WalkedItem> next();

 private:
  static constexpr size_t kBatch = 16;

  size_t next_by_headers();
  size_t next_by_descriptors();
  WalkedItem item_at(uint64_t offset, const KvItemView& item) const;
  bool find_descriptor(WalkedItem* walked) const;
  uint64_t address_of(uint64_t offset) const { return parts_.geometry.zone_at(zone_) + offset; }

  const KvParts& parts_;
  const uint64_t zone_;
  const uint32_t version_;
  const bool may_have_holes_;
  const bool verifies_;
  uint64_t offset_ = 0;
  std::array<WalkedItem, kBatch> items_;
};

// The first offset in a zone, from `offset` on, at which an item may begin, so far as the check in
// its first words tells; the end of the zone if there is none.
uint64_t next_item_place(const KvParts& parts, uint64_t zone, uint64_t offset);

}  // namespace nvcache
