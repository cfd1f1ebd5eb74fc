#include "kv_store/log/zone_survey.h"

#include <algorithm>
#include <unordered_set>

namespace nvcache {
namespace {

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
  uint64_t last_set_end = 0;  // up to where it has no holes
  ZoneWalk walk(parts, zone);
  for (auto items = walk.next(); !items.empty(); items = walk.next()) {
    for (const WalkedItem& each : items) {
      Survivor survivor = each.found;
      const bool in_last_set = survivor.offset < hot_line;
      last_set_items += in_last_set;
      if (in_last_set && survivor.offset == last_set_end) last_set_end += survivor.size_bytes;
      if (!each.live) continue;
      ++plan.live_items;
      plan.live_bytes += survivor.size_bytes;
      if (parts.config.is_past(each.item.expires_s())) {
        ++plan.expired;
        continue;
      }
      survivor.age = parts.use_list.age(survivor.slot);
      // After a recovery, only the hot line tells which old items were used.
      const bool is_hot =
          rule.live || parts.use_list.hot(survivor.slot) || (unchecked && in_last_set);
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
      last_set_items > 0 && last_set_end == hot_line && hot_line <= rule.keep_bytes &&
      static_cast<double>(still_hot) >= stable_share * static_cast<double>(last_set_items);
  if (plan.keeps_hot_set) {
    plan.hot_line = hot_line;
    plan.kept = std::move(last_set);
    std::erase_if(hot, [&](const Survivor& each) { return each.offset < hot_line; });
  }
  const size_t wanted = hot.size();
  plan.relocated = choose_survivors(std::move(hot), rule.keep_bytes - plan.hot_line);
  plan.without_room = wanted - plan.relocated.size();
  if (rule.lists_evicted) drop_survivors(&plan);
  return plan;
}

std::vector<Survivor> find_expired(const KvParts& parts, uint64_t zone, uint32_t* next_s) {
  *next_s = UINT32_MAX;
  std::vector<Survivor> expired;
  ZoneWalk walk(parts, zone);
  for (auto items = walk.next(); !items.empty(); items = walk.next()) {
    for (const WalkedItem& each : items) {
      const uint32_t expires_s = each.item.expires_s();
      if (!parts.config.is_past(expires_s)) {
        if (expires_s != 0) *next_s = std::min(*next_s, expires_s);
      } else if (each.live) {
        expired.push_back(each.found);
      }
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
