#include "kv_store/log/zone_survey.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_set>

#include "base/hash.h"

namespace nvcache {
namespace {

constexpr size_t kBatch = 16;

struct WalkedItem {
  KvItemView item;
  uint64_t offset = 0;
  uint64_t hash = 0;
};

// Reads up to a batch of the zone's items from `*offset` on, from header to header; none at
// the end. Each item's header and bucket is a cache miss. Prefetching lets those of a batch
// overlap; for the headers it guesses that items in a row have one size.
//
// After a crash a header may be damaged. The items behind it are then not found, and lost.
size_t walk(const KvParts& parts, uint64_t zone, uint64_t* offset,
            std::array<WalkedItem, kBatch>* items) {
  size_t count = 0;
  for (KvItemView item; count < kBatch && parts.zones.item_at(zone, *offset, &item); ++count) {
    const uint64_t size_bytes = item.size_bytes();
    const uint64_t guess = *offset + kBatch / 4 * size_bytes;
    if (guess < parts.geometry.zone_bytes) {
      __builtin_prefetch(parts.memory.at(parts.geometry.zone_at(zone) + guess));
    }
    const uint64_t hash = hash_bytes(item.key_text());
    parts.table.prefetch(parts.table.bucket_of(hash));
    (*items)[count] = {.item = item, .offset = *offset, .hash = hash};
    *offset += size_bytes;
  }
  return count;
}

// Finds the slot whose descriptor leads to an item of the zone's present version.
bool find_descriptor(const KvParts& parts, uint64_t zone, uint64_t address, Survivor* survivor) {
  const uint64_t place = make_descriptor(address, kv_tag(survivor->hash), 0, 0).place;
  const uint32_t version = parts.zones.version_of(zone);
  return parts.table.any_slot(parts.table.bucket_of(survivor->hash), [&](uint64_t slot) {
    const KvDescriptor there = parts.table.load(slot);
    if (there.place != place || there.version() != version) return false;
    survivor->slot = slot;
    survivor->descriptor = there;
    return true;
  });
}

// Leaves of the listed items those that are evicted.
void drop_survivors(CleaningPlan* plan) {
  std::unordered_set<uint64_t> stay;
  for (const Survivor& each : plan->kept) stay.insert(each.offset);
  for (const Survivor& each : plan->relocated) stay.insert(each.offset);
  std::erase_if(plan->evicted, [&](const Survivor& each) { return stay.contains(each.offset); });
}

}  // namespace

CleaningPlan plan_cleaning(const KvParts& parts, uint64_t zone, uint64_t hot_line,
                           const CleaningRule& rule) {
  const bool unchecked = parts.zones.is_unchecked(zone);
  CleaningPlan plan;
  std::vector<Survivor> last_set;
  std::vector<Survivor> hot;
  uint64_t last_set_items = 0;
  uint64_t still_hot = 0;
  std::array<WalkedItem, kBatch> items;
  uint64_t next = 0;
  while (const size_t count = walk(parts, zone, &next, &items)) {
    for (const WalkedItem& each : std::span(items.data(), count)) {
      const uint64_t address = parts.geometry.zone_at(zone) + each.offset;
      const bool in_last_set = each.offset < hot_line;
      last_set_items += in_last_set;
      Survivor survivor{.hash = each.hash,
                        .descriptor = {},
                        .offset = each.offset,
                        .size_bytes = each.item.size_bytes()};
      if (!find_descriptor(parts, zone, address, &survivor)) continue;
      if (parts.config.is_past(each.item.expires_s())) {
        ++plan.expired;
        continue;
      }
      if (unchecked && !parts.items.is_intact(address, survivor.descriptor, each.item)) continue;
      survivor.age = parts.marks.age(survivor.slot);
      // After a recovery, only the hot line tells which old items were used.
      const bool is_hot = rule.live || parts.marks.hot(survivor.slot) || (unchecked && in_last_set);
      if (in_last_set) {
        last_set.push_back(survivor);
        still_hot += is_hot;
      }
      if (is_hot) hot.push_back(survivor);
      if (rule.lists_evicted) plan.evicted.push_back(survivor);
    }
  }
  const double stable_share = rule.live ? 1 : kKvStableShare;
  plan.keeps_hot_set =
      last_set_items > 0 && hot_line <= rule.keep_bytes &&
      static_cast<double>(still_hot) >= stable_share * static_cast<double>(last_set_items);
  if (plan.keeps_hot_set) {
    plan.hot_line = hot_line;
    plan.kept = std::move(last_set);
    std::erase_if(hot, [&](const Survivor& each) { return each.offset < hot_line; });
  }
  plan.relocated = choose_survivors(std::move(hot), rule.keep_bytes - plan.hot_line);
  if (rule.lists_evicted) drop_survivors(&plan);
  return plan;
}

std::vector<Survivor> find_expired(const KvParts& parts, uint64_t zone, uint32_t* next_s) {
  *next_s = UINT32_MAX;
  std::vector<Survivor> expired;
  std::array<WalkedItem, kBatch> items;
  uint64_t next = 0;
  while (const size_t count = walk(parts, zone, &next, &items)) {
    for (const WalkedItem& each : std::span(items.data(), count)) {
      const uint32_t expires_s = each.item.expires_s();
      if (!parts.config.is_past(expires_s)) {
        if (expires_s != 0) *next_s = std::min(*next_s, expires_s);
        continue;
      }
      Survivor found{.hash = each.hash,
                     .descriptor = {},
                     .offset = each.offset,
                     .size_bytes = each.item.size_bytes()};
      const uint64_t address = parts.geometry.zone_at(zone) + each.offset;
      if (find_descriptor(parts, zone, address, &found)) expired.push_back(found);
    }
  }
  return expired;
}

std::vector<Survivor> choose_survivors(std::vector<Survivor> hot, uint64_t room_bytes) {
  uint64_t all_bytes = 0;
  for (const Survivor& each : hot) all_bytes += each.size_bytes;
  if (all_bytes <= room_bytes) return hot;
  std::stable_sort(hot.begin(), hot.end(),
                   [](const Survivor& a, const Survivor& b) { return a.age < b.age; });
  uint64_t taken_bytes = 0;
  std::erase_if(hot, [&](const Survivor& each) {
    if (taken_bytes + each.size_bytes > room_bytes) return true;
    taken_bytes += each.size_bytes;
    return false;
  });
  return hot;
}

}  // namespace nvcache
