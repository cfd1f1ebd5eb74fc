// Items that leave a zone so that a large one finds room there, while the store has room to spare.
//
// They go behind the items of another zone, the destination, which stays with the cleaner until it
// is full: each zone is cleaned once for all that it takes. Nothing here is out of service: readers
// find an item where it was until its descriptor leads to the copy, and after that its old zone is
// not cleaned before they have left it.
//
// The copy is a put of the same value: what is durable, and when, is as there. The old descriptor
// may be back after a loss of power; it leads to the same value, or to none.
#include <algorithm>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/test_hooks.h"
#include "kv_store/log/cleaner.h"

namespace nvcache {
namespace {

constexpr int kDestinationAttempts = 4;  // zones that are tried; readers may have them pinned

}  // namespace

bool Cleaner::evacuate(uint64_t zone, uint64_t keep_bytes) {
  if (test_hooks.skip_evacuation) return false;
  // All that lives, whether it fits or not.
  CleaningPlan all = plan(zone, live_rule(parts_.geometry.zone_bytes));
  std::vector<Survivor> items = std::move(all.kept);
  items.insert(items.end(), all.relocated.begin(), all.relocated.end());
  uint64_t left_bytes = 0;
  for (const Survivor& each : items) left_bytes += each.size_bytes;
  std::ranges::sort(items, {}, &Survivor::size_bytes);
  auto next = items.begin();
  for (; left_bytes > keep_bytes && next != items.end(); ++next) {
    const std::optional<ZoneLog::Room> room = room_elsewhere(next->size_bytes);
    if (!room) break;
    move_elsewhere(zone, *next, *room);
    left_bytes -= next->size_bytes;
  }
  // Few zones need all of them.
  if (parts_.zones.most_ahead() == 0) end_evacuation();
  return left_bytes <= keep_bytes;
}

std::optional<ZoneLog::Room> Cleaner::room_elsewhere(uint64_t item_bytes) {
  for (int attempt = 0; attempt < kDestinationAttempts; ++attempt) {
    if (destination_ != ZoneLog::kNoZone) {
      if (const auto room = parts_.zones.append(destination_, item_bytes)) return room;
      end_evacuation();
    }
    const uint64_t zone = parts_.zones.take_full(*this);
    if (zone == ZoneLog::kNoZone) return std::nullopt;
    if (clean_for_evacuated(zone, item_bytes)) {
      destination_ = zone;
    } else {
      parts_.zones.give_back(zone);
      if (parts_.memory.failed()) return std::nullopt;
    }
  }
  return std::nullopt;
}

// Nothing leaves it.
bool Cleaner::clean_for_evacuated(uint64_t zone, uint64_t item_bytes) try {
  if (parts_.zones.is_pinned(zone)) return false;
  CleaningPlan kept = plan(zone, live_rule(most_kept_bytes(item_bytes)));
  if (kept.without_room == 0) return switch_zone(zone, std::move(kept));
  if (doubts_counts(zone)) parts_.headers.recount(zone, kept.live_items, kept.live_bytes);
  return false;
} catch (const std::bad_alloc&) {
  return false;
}

void Cleaner::move_elsewhere(uint64_t zone, const Survivor& item, const ZoneLog::Room& room) {
  const uint64_t from = parts_.geometry.zone_at(zone) + item.offset;
  const KvItemView before = parts_.items.view(from);
  const KvDescriptor descriptor =
      parts_.items.copy(room.address, before, item.descriptor.tag(), room.version);
  call(test_hooks.on_cleaning_step);
  if (!parts_.memory.flushes_all()) {
    parts_.memory.note_write(room.address, item.size_bytes);
  } else if (!test_hooks.skip_evacuation_flush &&
             !parts_.memory.persist(room.address, item.size_bytes)) {
    return;
  }
  {
    DescriptorTable::Stripe& stripe = parts_.table.stripe_of(item.slot);
    MutexLock lock(stripe.mutex);
    if (parts_.table.load(item.slot) != item.descriptor) return;  // deleted, or replaced
    // touch() may have changed it until the stripe was locked.
    const KvItemView now = parts_.items.view(from);
    if (now.expires_s() != before.expires_s()) {
      parts_.items.set_expiry(room.address, now.expires_s(), now.header.cas);
      if (parts_.memory.flushes_all()) parts_.memory.persist(room.address, kKvExpiryBytes);
    }
    if (now.expires_s() != 0) parts_.zones.note_expiry(room.zone, now.expires_s());
    parts_.table.write(stripe, item.slot, descriptor);
    call(test_hooks.on_cleaning_step);
    if (parts_.memory.flushes_all()) {
      parts_.table.persist(item.slot);
    } else {
      parts_.table.note_write(item.slot);
    }
  }
  const auto size_bytes = static_cast<int64_t>(item.size_bytes);
  parts_.headers.count(zone, -1, -size_bytes);
  parts_.headers.count(room.zone, 1, size_bytes);
  parts_.counters.add(KvCounter::kWrittenBytes, item.size_bytes);
  parts_.counters.add(KvCounter::kRelocated, 1);
  parts_.counters.add(KvCounter::kRelocatedBytes, item.size_bytes);
}

void Cleaner::end_evacuation() {
  if (destination_ != ZoneLog::kNoZone) parts_.zones.give_back(destination_);
  destination_ = ZoneLog::kNoZone;
}

}  // namespace nvcache
