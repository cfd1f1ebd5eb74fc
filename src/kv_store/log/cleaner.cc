#include "kv_store/log/cleaner.h"

#include <algorithm>
#include <new>
#include <span>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/test_hooks.h"

namespace nvcache {
namespace {

constexpr size_t kSampledZones = 64;
constexpr int kSwitchAttempts = 20;
constexpr uint64_t kLeastRoomShare = 16;  // of a zone, for new items: one part in so many
// Expired items whose descriptors are cleared with one drain. Writers of their stripes wait for it.
constexpr size_t kClearedAtOnce = 1024;

}  // namespace

// If all live items are to stay, the zone with the most garbage of a sample; else the oldest.
size_t Cleaner::choose(const std::deque<uint64_t>& full) {
  if (!keeps_live()) return 0;
  size_t best = 0;
  uint64_t least_bytes = UINT64_MAX;
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

uint32_t Cleaner::sweep_time_s() const {
  const bool wants = parts_.config.cleaning == KvCleaning::kLive && !keeps_live();
  return wants ? parts_.config.now_s() : 0;
}

// Durably, before another key may take a slot, or the key of one that expired gets a second slot:
// the first would be back after a loss of power, and hide or outlive what the other leads to.
uint32_t Cleaner::sweep(uint64_t zone) try {
  // A put may not have written its item's header yet: then what lies behind it is not seen.
  const bool is_whole = !parts_.zones.is_pinned(zone);
  uint32_t next_s = UINT32_MAX;
  const std::vector<Survivor> expired = find_expired(parts_, zone, &next_s);
  std::vector<uint64_t> slots;
  for (size_t first = 0; first < expired.size(); first += kClearedAtOnce) {
    const size_t count = std::min(kClearedAtOnce, expired.size() - first);
    clear_expired(zone, std::span(expired).subspan(first, count), &slots);
  }
  return is_whole ? next_s : 0;
} catch (const std::bad_alloc&) {
  return 0;  // they count for longer
}

void Cleaner::clear_expired(uint64_t zone, std::span<const Survivor> expired,
                            std::vector<uint64_t>* slots) {
  slots->clear();
  for (const Survivor& each : expired) slots->push_back(each.slot);
  auto each = expired.begin();
  parts_.table.clear_each(slots, [&](uint64_t slot) {
    const Survivor& found = *each++;
    NVCACHE_ASSERT_SLOW(found.slot == slot);
    if (parts_.table.load(slot) != found.descriptor) return false;  // replaced or deleted meanwhile
    // Read again: its put may have been writing the header when the walk came by.
    const KvItemView item = parts_.items.view(parts_.geometry.zone_at(zone) + found.offset);
    if (!parts_.config.is_past(item.expires_s())) return false;  // it may live longer
    parts_.headers.count(zone, -1, -static_cast<int64_t>(item.size_bytes()));
    return true;
  });
}

uint64_t Cleaner::most_kept_bytes(uint64_t item_bytes) const {
  const uint64_t zone_bytes = parts_.geometry.zone_bytes;
  return zone_bytes - std::max(item_bytes, zone_bytes / kLeastRoomShare);
}

CleaningRule Cleaner::live_rule(uint64_t keep_bytes) const {
  return {.live = true, .keep_bytes = keep_bytes, .lists_evicted = parts_.config.tells_evictions()};
}

// At least half of a cleaned zone is for new items.
CleaningRule Cleaner::rule_of_full_store() const {
  return {.live = false,
          .keep_bytes = parts_.geometry.zone_bytes / 2,
          .lists_evicted = parts_.config.tells_evictions()};
}

// A loss of power sets counts back. A wrong count must not cost an item its place.
bool Cleaner::doubts_counts(uint64_t zone) const {
  return parts_.counts_are_old && parts_.config.cleaning == KvCleaning::kLive &&
         parts_.zones.is_unchecked(zone);
}

bool Cleaner::clean(uint64_t zone, uint64_t item_bytes) try {
  if (parts_.zones.is_pinned(zone)) return false;
  const auto list_length = static_cast<uint64_t>(static_cast<double>(parts_.headers.live().items) *
                                                 parts_.config.hot_share);
  parts_.use_list.set_length(list_length);
  if (parts_.headers.is_fresh(zone)) return switch_zone(zone, {});
  std::optional<CleaningPlan> plan = plan_for(zone, item_bytes);
  return plan && switch_zone(zone, *std::move(plan));
} catch (const std::bad_alloc&) {
  return false;
}

CleaningPlan Cleaner::plan(uint64_t zone, const CleaningRule& rule) const {
  return plan_cleaning(parts_, zone, parts_.zones.hot_line(zone), rule);
}

std::optional<CleaningPlan> Cleaner::plan_for(uint64_t zone, uint64_t item_bytes) {
  // Where counts are in doubt, the survey tells how much there is.
  const bool doubts = doubts_counts(zone);
  if (!doubts && !keeps_live()) return plan(zone, rule_of_full_store());
  const CleaningRule rule = live_rule(most_kept_bytes(item_bytes));
  CleaningPlan found = plan(zone, rule);
  if (found.without_room == 0) return found;
  if (doubts && parts_.headers.recount(zone, found.live_items, found.live_bytes)) {
    return std::nullopt;
  }
  if (keeps_live() && evacuate(zone, rule.keep_bytes)) {
    found = plan(zone, rule);
    if (found.without_room == 0) return found;
  }
  return plan(zone, rule_of_full_store());
}

bool Cleaner::switch_zone(uint64_t zone, CleaningPlan plan) {
  const bool fresh = parts_.headers.is_fresh(zone);
  const uint64_t version = parts_.zones.full_version(zone);
  const uint64_t next = next_version(version);
  const Work work = prepare(zone, version, next, std::move(plan));
  if (!begin_switch(zone)) return false;
  if (comes_round(next)) clear_descriptors({zone});
  const uint64_t items_before = parts_.headers.live_items(zone);
  tell_evicted(work.plan);

  ZoneMover mover(parts_, zone, version, /*attempt=*/0);
  if (!work.moves.empty() && !mover.begin(work.plan.hot_line, work.plan.hot_line)) {
    parts_.zones.serve(zone, version);
    return false;
  }
  const ZoneMover::Done done = mover.run(work.moves);
  parts_.headers.write(zone, next, work.hot_line, parts_.zones.next_sequence());
  parts_.headers.count(zone, static_cast<int64_t>(done.items),
                       static_cast<int64_t>(done.item_bytes));
  // Durable before anybody misses an item: see the top of item_index.h.
  if (parts_.memory.flushes_updates() && !test_hooks.skip_zone_flush &&
      !parts_.headers.persist(zone)) {
    parts_.zones.serve(zone, next);
    return false;
  }
  parts_.zones.end_switch(zone, next, work.hot_line);
  if (!fresh) count_cleaning(work, done, items_before);
  return true;
}

// Lookups pin a zone for moments only, but there may be one at any time.
bool Cleaner::begin_switch(uint64_t zone) {
  for (int attempt = 0; attempt < kSwitchAttempts; ++attempt) {
    if (parts_.zones.begin_switch(zone)) return true;
    std::this_thread::yield();
  }
  return false;
}

// Before what survives moves over them.
void Cleaner::tell_evicted(const CleaningPlan& plan) {
  for (const Survivor& each : plan.evicted) {
    const KvItemView item = parts_.items.view(each.descriptor.address());
    parts_.config.evictions->add(item.key_text(), item.header.value_bytes, item.expires_s());
  }
}

void Cleaner::count_cleaning(const Work& work, const ZoneMover::Done& done, uint64_t items_before) {
  const CleaningPlan& plan = work.plan;
  parts_.counters.add(KvCounter::kZonesCleaned, 1);
  parts_.counters.add(KvCounter::kHotSetsKept, plan.keeps_hot_set ? 1 : 0);
  parts_.counters.add(KvCounter::kWrittenBytes, done.moved_bytes);
  parts_.counters.add(KvCounter::kRelocated, done.moved);
  parts_.counters.add(KvCounter::kRelocatedBytes, done.moved_bytes);
  // After a crash the count is a hint: it may be less than what survived.
  const uint64_t survived = plan.kept.size() + plan.relocated.size() + plan.expired;
  if (items_before > survived && items_before < parts_.geometry.slots()) {
    parts_.counters.add(KvCounter::kEvicted, items_before - survived);
  }
}

Cleaner::Work Cleaner::prepare(uint64_t zone, uint64_t version, uint64_t next,
                               CleaningPlan plan) const {
  Work work{.plan = std::move(plan), .moves = {}};
  const ZoneMover mover(parts_, zone, version, /*attempt=*/0);
  const auto add = [&](const Survivor& item, uint64_t to) {
    const KvDescriptor descriptor = mover.descriptor_for(item, to, parts_.zones.low_bits(next));
    work.moves.push_back({.item = item, .to = to, .descriptor = descriptor});
  };
  work.moves.reserve(work.plan.kept.size() + work.plan.relocated.size());
  for (const Survivor& item : work.plan.kept) add(item, item.offset);
  std::sort(work.plan.relocated.begin(), work.plan.relocated.end(),
            [](const Survivor& a, const Survivor& b) { return a.offset < b.offset; });
  work.hot_line = work.plan.hot_line;
  for (const Survivor& item : work.plan.relocated) {
    add(item, work.hot_line);
    work.hot_line += item.size_bytes;
  }
  return work;
}

void Cleaner::populate(uint64_t zone, uint64_t offset) {
  parts_.medium.populate(
      {parts_.geometry.zone_at(zone) + offset, parts_.geometry.zone_bytes - offset});
}

// Descriptors hold the lower bits of a version; 0 is left out, but for tests.
uint64_t Cleaner::next_version(uint64_t version) const {
  const bool left_out = parts_.zones.low_bits(version + 1) == 0 && !test_hooks.skip_version_sweep;
  return (version + (left_out ? 2 : 1)) & kKvVersionMask;
}

// Before the lower bits come round again, all descriptors of the zone must be cleared.
bool Cleaner::comes_round(uint64_t version) const {
  return parts_.zones.low_bits(version) == 1 && !test_hooks.skip_version_sweep;
}

void Cleaner::clear_descriptors(const std::vector<uint64_t>& zones) {
  std::vector<bool> goes(parts_.geometry.zones);
  for (const uint64_t zone : zones) goes[zone] = true;
  parts_.table.clear_where([&](const KvDescriptor& descriptor) {
    const uint64_t zone = parts_.geometry.zone_of(descriptor.address());
    return zone == ZoneLog::kNoZone || goes[zone];
  });
}

Status Cleaner::renew_all() {
  MutexLock cleaning(parts_.zones.cleaning_mutex());
  end_evacuation();
  MutexLock lock(parts_.zones.space_mutex());
  const std::vector<bool> open = parts_.zones.open_zones();
  std::vector<uint64_t> versions(parts_.geometry.zones);
  std::vector<uint64_t> round;
  for (uint64_t zone = 0; zone < parts_.geometry.zones; ++zone) {
    versions[zone] = next_version(parts_.zones.full_version(zone));
    if (comes_round(versions[zone])) round.push_back(zone);
  }
  if (!round.empty()) clear_descriptors(round);
  for (uint64_t zone = 0; zone < parts_.geometry.zones; ++zone) {
    parts_.headers.write(zone, versions[zone], 0, open[zone] ? parts_.zones.next_sequence() : 0);
  }
  if (!test_hooks.skip_clear_flush && !parts_.headers.persist_all()) {
    return data_loss_error("the medium failed while the headers of its zones were written");
  }
  parts_.zones.forget_items();
  for (uint64_t zone = 0; zone < parts_.geometry.zones; ++zone) {
    parts_.zones.serve(zone, versions[zone]);
  }
  return ok_status();
}

}  // namespace nvcache
