#include "kv_store/cleaner.h"

#include <algorithm>
#include <cstring>

#include "base/test_hooks.h"

namespace nvcache {
namespace {

constexpr size_t kSampledZones = 64;
constexpr uint64_t kLeastRoomShare = 16;  // of a zone, for new items: one part in so many

}  // namespace

// If all live items are to stay, the zone with the most garbage of a sample; else the oldest.
size_t Cleaner::choose(const std::deque<uint64_t>& full, uint64_t item_bytes) {
  if (!keeps_live()) return 0;
  size_t best = 0;
  uint64_t least_bytes = most_kept_bytes(item_bytes) + 1;
  const size_t looks = std::min(full.size(), kSampledZones);
  for (size_t look = 0; look < looks; ++look) {
    const size_t at = full.size() <= kSampledZones ? look : random_.below(full.size());
    const uint64_t bytes = parts_.headers.live_bytes(full[at]);
    if (bytes >= least_bytes || parts_.zones.is_pinned(full[at])) continue;
    least_bytes = bytes;
    best = at;
  }
  return best;
}

bool Cleaner::keeps_live() const {
  const auto live = static_cast<double>(parts_.headers.live().item_bytes);
  const auto room = static_cast<double>(parts_.geometry.zones * parts_.geometry.zone_bytes);
  return parts_.config.cleaning == KvCleaning::kLive && live <= kFullShare * room;
}

uint64_t Cleaner::most_kept_bytes(uint64_t item_bytes) const {
  const uint64_t zone_bytes = parts_.geometry.zone_bytes;
  return zone_bytes - std::max(item_bytes, zone_bytes / kLeastRoomShare);
}

CleaningRule Cleaner::rule_for(uint64_t zone, uint64_t item_bytes) const {
  const uint64_t most_bytes = most_kept_bytes(item_bytes);
  if (keeps_live() && parts_.headers.live_bytes(zone) <= most_bytes) {
    return {.live = true, .keep_bytes = most_bytes};
  }
  // At least half of a cleaned zone is for new items.
  return {.live = false, .keep_bytes = parts_.geometry.zone_bytes / 2};
}

bool Cleaner::clean(uint64_t zone, uint64_t item_bytes) {
  if (parts_.zones.is_pinned(zone)) return false;
  const bool fresh = parts_.headers.is_fresh(zone);
  const uint64_t list_length = static_cast<uint64_t>(
      static_cast<double>(parts_.headers.live().items) * parts_.config.hot_share);
  parts_.marks.set_length(list_length);
  const CleaningPlan plan =
      fresh ? CleaningPlan{}
            : plan_cleaning(parts_, zone, parts_.zones.hot_line(zone), rule_for(zone, item_bytes));

  const uint64_t version = parts_.zones.full_version(zone);
  if (!parts_.zones.begin_switch(zone)) return false;
  const uint64_t hot_line = plan.hot_line + plan.relocated_bytes();
  const uint64_t items_before = parts_.headers.live_items(zone);
  const uint64_t next = next_version(zone, version);
  parts_.headers.write(zone, next, hot_line, parts_.zones.next_sequence());
  // Durable before anybody misses an item: see the top of item_index.h.
  if (parts_.memory.flushes_updates() && !test_hooks.skip_zone_flush &&
      !parts_.headers.persist(zone)) {
    parts_.zones.serve(zone, next);
    return false;
  }
  revive(zone, next, plan);
  parts_.zones.end_switch(zone, next, hot_line);
  if (!fresh) {
    const uint64_t survived = plan.kept.size() + plan.relocated.size();
    parts_.counters.add(KvCounter::kZonesCleaned, 1);
    parts_.counters.add(KvCounter::kHotSetsKept, plan.keeps_hot_set ? 1 : 0);
    // After a crash the count is a hint: it may be less than what survived.
    if (items_before > survived && items_before < parts_.geometry.slots()) {
      parts_.counters.add(KvCounter::kEvicted, items_before - survived);
    }
  }
  return true;
}

// Gives the survivors descriptors of the new version, without a flush: a crash may lose a
// survivor, as it may lose an item that was just inserted.
void Cleaner::revive(uint64_t zone, uint64_t version, const CleaningPlan& plan) {
  const uint32_t low = parts_.zones.low_bits(version);
  for (const Survivor& each : plan.kept) {
    const uint64_t address = each.descriptor.address();
    const uint32_t checksum =
        each.descriptor.checksum() ^ kv_version_mask(each.descriptor.version(), address);
    revive_one(zone, each, make_descriptor(address, each.descriptor.tag(), low, checksum));
  }
  if (plan.relocated.empty()) return;
  uint64_t address = parts_.geometry.zone_at(zone) + plan.hot_line;
  relocate(address, plan);
  for (const Survivor& each : plan.relocated) {
    const uint32_t checksum = parts_.items.checksum(address, parts_.items.view(address));
    revive_one(zone, each, make_descriptor(address, each.descriptor.tag(), low, checksum));
    address += each.size_bytes;
  }
}

// Copies items to one place, one behind the other. The copy goes through DRAM, because the
// target may overlap items that are still to be copied.
void Cleaner::relocate(uint64_t to, const CleaningPlan& plan) {
  const uint64_t moved_bytes = plan.relocated_bytes();
  if (scratch_.size() < moved_bytes) scratch_.resize(moved_bytes);
  uint64_t at = 0;
  for (const Survivor& each : plan.relocated) {
    std::memcpy(scratch_.data() + at, parts_.memory.at(each.descriptor.address()), each.size_bytes);
    parts_.items.rebind(scratch_.data() + at, to + at);
    at += each.size_bytes;
  }
  std::memcpy(parts_.memory.at(to), scratch_.data(), moved_bytes);
  if (parts_.memory.flushes_all()) {
    parts_.memory.persist(to, moved_bytes);
  } else {
    parts_.memory.note_write(to, moved_bytes);
  }
  parts_.counters.add(KvCounter::kWrittenBytes, moved_bytes);
  parts_.counters.add(KvCounter::kRelocated, plan.relocated.size());
  parts_.counters.add(KvCounter::kRelocatedBytes, moved_bytes);
}

// Does nothing if the item was deleted or replaced since the survey.
void Cleaner::revive_one(uint64_t zone, const Survivor& survivor, const KvDescriptor& descriptor) {
  DescriptorTable::Stripe& stripe = parts_.table.stripe_of(survivor.slot);
  {
    MutexLock lock(stripe.mutex);
    if (parts_.table.load(survivor.slot) != survivor.descriptor) return;
    parts_.table.write(stripe, survivor.slot, descriptor);
    if (parts_.memory.flushes_all()) {
      parts_.table.persist(survivor.slot);
    } else {
      parts_.table.note_write(survivor.slot);
    }
  }
  parts_.headers.count(zone, 1, static_cast<int64_t>(survivor.size_bytes));
}

// Descriptors hold the lower bits of a version. Before these come round again, all
// descriptors of the zone are cleared.
uint64_t Cleaner::next_version(uint64_t zone, uint64_t version) {
  uint64_t next = version + 1;
  if (parts_.zones.low_bits(next) == 0 && !test_hooks.skip_version_sweep) {
    std::vector<bool> zones(parts_.geometry.zones);
    zones[zone] = true;
    clear_descriptors(zones);
    ++next;
  }
  return next & kKvVersionMask;
}

void Cleaner::clear_descriptors(const std::vector<bool>& zones) {
  parts_.table.clear_where([&](const KvDescriptor& descriptor) {
    const uint64_t zone = parts_.geometry.zone_of(descriptor.address());
    return zone == ZoneLog::kNoZone || zones[zone];
  });
}

absl::Status Cleaner::renew_all() {
  MutexLock lock(parts_.zones.space_mutex());
  const std::vector<bool> open = parts_.zones.open_zones();
  std::vector<uint64_t> versions(parts_.geometry.zones);
  for (uint64_t zone = 0; zone < parts_.geometry.zones; ++zone) {
    versions[zone] = next_version(zone, parts_.zones.full_version(zone));
    parts_.headers.write(zone, versions[zone], 0, open[zone] ? parts_.zones.next_sequence() : 0);
  }
  if (!test_hooks.skip_clear_flush && !parts_.headers.persist_all()) {
    return absl::DataLossError("the medium failed while the headers of its zones were written");
  }
  parts_.zones.forget_items();
  for (uint64_t zone = 0; zone < parts_.geometry.zones; ++zone) {
    parts_.zones.serve(zone, versions[zone]);
  }
  return absl::OkStatus();
}

}  // namespace nvcache
