#include "kv_store/store/item_index.h"

#include <atomic>
#include <cstring>

#include "base/test_hooks.h"

namespace nvcache {

namespace {

using Validity = ZoneLog::Validity;

}  // namespace

void ItemIndex::prefetch(const Bucket& bucket) const {
  const uint32_t tag = kv_tag(bucket.hash);
  for (uint64_t slot = bucket.first_slot; slot < bucket.first_slot + kKvBucketSlots; ++slot) {
    const KvDescriptor there = parts_.table.load(slot);
    if (there.place == 0 || there.tag() != tag) continue;
    const uint64_t zone = parts_.geometry.zone_of(there.address());
    if (zone == ZoneLog::kNoZone) continue;
    __builtin_prefetch(parts_.memory.at(there.address()));
    parts_.zones.prefetch(zone);
    parts_.headers.prefetch(zone);
  }
}

bool ItemIndex::look_at(uint64_t slot, ItemLocation* found) {
  found->slot = slot;
  const uint64_t place = parts_.table.load_place(slot);
  if (place == 0 || !parts_.table.load_whole(slot, place, &found->descriptor)) return false;
  const uint64_t address = found->descriptor.address();
  found->zone = parts_.geometry.zone_of(address);
  if (found->zone == ZoneLog::kNoZone) return false;
  if (parts_.zones.pin(found->zone, found->descriptor.version()) != Validity::kValid) return false;
  if (parts_.zones.item_at(found->zone, address - parts_.geometry.zone_at(found->zone),
                           &found->item) &&
      is_intact(*found)) {
    return true;
  }
  parts_.zones.unpin(found->zone);
  return false;
}

// An item that was there at the opening is checked when it is first found; so is all that a torn
// descriptor may lead to.
bool ItemIndex::is_intact(const ItemLocation& found) {
  const bool believed = !parts_.may_be_torn || test_hooks.believe_torn;
  if (believed && !parts_.zones.is_unchecked(found.zone)) return true;
  std::atomic_ref<uint64_t> bits(checked_[found.slot / 64]);
  const uint64_t bit = uint64_t{1} << (found.slot % 64);
  if ((bits.load(std::memory_order_relaxed) & bit) != 0) return true;
  if (!parts_.items.is_intact(found.descriptor.address(), found.descriptor, found.item)) {
    return false;
  }
  bits.fetch_or(bit, std::memory_order_relaxed);
  return true;
}

// Drops an item that a crash tore or lost. That needs no flush: the item stays damaged until
// its zone gets a new version.
void ItemIndex::drop_damaged(const ItemLocation& found) {
  parts_.table.clear_damaged(found.slot);
  parts_.counters.add(KvCounter::kDamaged, 1);
  parts_.headers.count(found.zone, -1, 0);
}

// `place` is what the slot's descriptor was seen to hold: the key's tag, and an address.
ItemIndex::Presence ItemIndex::follow(uint64_t slot, uint64_t place, std::string_view key,
                                      bool locked, ItemLocation* found) {
  found->slot = slot;
  if (!parts_.table.load_whole(slot, place, &found->descriptor)) return Presence::kUnsure;
  const uint64_t address = found->descriptor.address();
  found->zone = parts_.geometry.zone_of(address);
  if (found->zone == ZoneLog::kNoZone) return Presence::kAbsent;
  const Validity validity = parts_.zones.pin(found->zone, found->descriptor.version());
  if (validity != Validity::kValid) {
    return validity == Validity::kBeingCleaned ? Presence::kUnsure : Presence::kAbsent;
  }
  const bool is_of_key =
      parts_.zones.item_at(found->zone, address - parts_.geometry.zone_at(found->zone),
                           &found->item) &&
      found->item.header.key_bytes == key.size() &&
      std::memcmp(found->item.key(), key.data(), key.size()) == 0;
  const bool damaged = is_of_key && !is_intact(*found);
  if (is_of_key && !damaged) return Presence::kPresent;
  if (damaged && locked) drop_damaged(*found);
  parts_.zones.unpin(found->zone);
  if (!damaged || locked) return Presence::kAbsent;

  // Dropped under the lock, so that it is counted once.
  MutexLock lock(parts_.table.stripe_of(slot).mutex);
  if (parts_.table.load(slot) != found->descriptor ||
      parts_.zones.pin(found->zone, found->descriptor.version()) != Validity::kValid) {
    return Presence::kUnsure;
  }
  if (!is_intact(*found)) drop_damaged(*found);
  parts_.zones.unpin(found->zone);
  return Presence::kAbsent;
}

ItemIndex::Presence ItemIndex::scan(const Bucket& bucket, std::string_view key, bool locked,
                                    ItemLocation* found) {
  const uint32_t tag = kv_tag(bucket.hash);
  bool unsure = false;
  const bool present = parts_.table.any_slot(bucket, [&](uint64_t slot) {
    const uint64_t place = parts_.table.load_place(slot);
    if (place >> KvDescriptor::kPlaceBits != tag || place == 0) return false;
    const Presence seen = follow(slot, place, key, locked, found);
    unsure |= seen == Presence::kUnsure;
    return seen == Presence::kPresent;
  });
  if (present) return Presence::kPresent;
  return unsure ? Presence::kUnsure : Presence::kAbsent;
}

// Finds a slot whose descriptor is empty or void, or evicts the bucket's item that was used
// longest ago. False: try again.
bool ItemIndex::free_slot(const Bucket& bucket, uint64_t* slot, bool* evicted) {
  const auto use_of = [&](const KvDescriptor& there) {
    using SlotUse = DescriptorTable::SlotUse;
    const uint64_t zone = parts_.geometry.zone_of(there.address());
    if (zone == ZoneLog::kNoZone) return SlotUse::kFree;
    switch (parts_.zones.validity(zone, there.version())) {
      case Validity::kValid:
        return SlotUse::kInUse;
      case Validity::kVoid:
        return SlotUse::kFree;
      case Validity::kBeingCleaned:
        return SlotUse::kBeingCleaned;
    }
    return SlotUse::kInUse;
  };
  const auto choice = parts_.table.choose_slot(
      bucket, use_of, [&](uint64_t candidate) { return parts_.use_list.age(candidate); });
  if (!choice) return false;
  *slot = choice->slot;
  *evicted = choice->evicts;
  if (choice->evicts) {
    const KvDescriptor victim = parts_.table.load(choice->slot);
    const uint64_t zone = parts_.geometry.zone_of(victim.address());
    if (parts_.zones.pin(zone, victim.version()) != Validity::kValid) return false;
    KvItemView item;
    if (parts_.zones.item_at(zone, victim.address() - parts_.geometry.zone_at(zone), &item)) {
      parts_.headers.count(zone, -1, -static_cast<int64_t>(item.size_bytes()));
      if (parts_.config.tells_evictions()) {
        parts_.config.evictions->add(item.key_text(), item.header.value_bytes, item.expires_s());
      }
    }
    parts_.zones.unpin(zone);
    parts_.counters.add(KvCounter::kEvicted, 1);
    parts_.counters.add(KvCounter::kTableEvicted, 1);
  }
  parts_.use_list.forget(choice->slot);
  return true;
}

bool ItemIndex::publish(const Bucket& bucket, uint64_t zone, const KvDescriptor& descriptor,
                        uint64_t item_bytes, const ItemLocation* old) {
  uint64_t slot = 0;
  bool invalidates = false;  // overwrites a valid descriptor
  if (old != nullptr) {
    slot = old->slot;
    invalidates = true;
    parts_.headers.count(old->zone, -1, -static_cast<int64_t>(old->item.size_bytes()));
  } else if (!free_slot(bucket, &slot, &invalidates)) {
    return false;
  }
  parts_.table.write(bucket.stripe, slot, descriptor);
  if (parts_.zones.version_of(zone) == descriptor.version()) {
    parts_.headers.count(zone, 1, static_cast<int64_t>(item_bytes));
  }
  // One line holds the end of the old descriptor and the new one.
  const bool skips = old != nullptr ? test_hooks.skip_update_flush : test_hooks.skip_eviction_flush;
  if ((invalidates && parts_.memory.flushes_updates() && !skips) || parts_.memory.flushes_all()) {
    parts_.table.persist(slot);
  } else {
    parts_.table.note_write(slot);
  }
  if (parts_.memory.flushes_use()) note_use(slot);
  return true;
}

bool ItemIndex::drop(const Bucket& bucket, const ItemLocation& found) {
  parts_.table.write(bucket.stripe, found.slot, {});
  parts_.headers.count(found.zone, -1, -static_cast<int64_t>(found.item.size_bytes()));
  if (test_hooks.skip_delete_flush) return true;
  return !parts_.memory.flushes_updates() || parts_.table.persist(found.slot);
}

}  // namespace nvcache
