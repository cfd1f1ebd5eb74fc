#include "kv_store/log/zone_walk.h"

#include <algorithm>

#include "base/hash.h"
#include "base/test_hooks.h"

namespace nvcache {

uint64_t next_item_place(const KvParts& parts, uint64_t zone, uint64_t offset) {
  const uint64_t zone_at = parts.geometry.zone_at(zone);
  for (; offset + kKvItemHeaderBytes <= parts.geometry.zone_bytes; offset += kKvGrainBytes) {
    if (parts.items.begins_item(parts.memory.at(zone_at + offset), zone_at + offset)) return offset;
  }
  return parts.geometry.zone_bytes;
}

ZoneWalk::ZoneWalk(const KvParts& parts, uint64_t zone)
    : parts_(parts),
      zone_(zone),
      version_(parts.zones.version_of(zone)),
      may_have_holes_(parts.zones.is_unchecked(zone) && !test_hooks.trust_headers),
      verifies_(parts.zones.is_unchecked(zone) || (parts.may_be_torn && !test_hooks.believe_torn)) {
}

std::span<const WalkedItem> ZoneWalk::next() {
  const size_t count = may_have_holes_ ? next_by_descriptors() : next_by_headers();
  return std::span(items_.data(), count);
}

// Prefetching lets the cache misses of a batch overlap; for the headers it guesses that items in a
// row have one size.
size_t ZoneWalk::next_by_headers() {
  size_t count = 0;
  for (KvItemView item; count < kBatch && parts_.zones.item_at(zone_, offset_, &item); ++count) {
    const uint64_t size_bytes = item.size_bytes();
    const uint64_t guess = offset_ + kBatch / 4 * size_bytes;
    if (guess < parts_.geometry.zone_bytes) {
      __builtin_prefetch(parts_.memory.at(address_of(guess)));
    }
    items_[count] = item_at(offset_, item);
    parts_.table.prefetch(parts_.table.bucket_of(items_[count].found.hash));
    offset_ += size_bytes;
  }
  for (WalkedItem& each : std::span(items_.data(), count)) each.live = find_descriptor(&each);
  return count;
}

size_t ZoneWalk::next_by_descriptors() {
  size_t count = 0;
  while (count < kBatch) {
    offset_ = next_item_place(parts_, zone_, offset_);
    if (offset_ >= parts_.geometry.zone_bytes) break;
    KvItemView item;
    uint64_t size_bytes = kKvGrainBytes;
    if (parts_.zones.item_at(zone_, offset_, &item)) {
      WalkedItem& walked = items_[count] = item_at(offset_, item);
      walked.live = find_descriptor(&walked);
      if (walked.live) {
        size_bytes = walked.found.size_bytes;
        ++count;
      }
    }
    offset_ += size_bytes;
  }
  return count;
}

WalkedItem ZoneWalk::item_at(uint64_t offset, const KvItemView& item) const {
  return {.item = item,
          .found = {.hash = hash_bytes(item.key_text()),
                    .descriptor = {},
                    .offset = offset,
                    .size_bytes = item.size_bytes()}};
}

bool ZoneWalk::find_descriptor(WalkedItem* walked) const {
  Survivor& found = walked->found;
  const uint64_t place = make_descriptor(address_of(found.offset), kv_tag(found.hash), 0, 0).place;
  return parts_.table.any_slot(parts_.table.bucket_of(found.hash), [&](uint64_t slot) {
    const KvDescriptor there = parts_.table.load(slot);
    if (there.place != place || there.version() != version_ ||
        (verifies_ && !parts_.items.is_intact(there.address(), there, walked->item))) {
      return false;
    }
    found.slot = slot;
    found.descriptor = there;
    return true;
  });
}

}  // namespace nvcache
