// Zones: allocation from them, and cleaning, where replacement and reclamation are one.
//
// A zone is cleaned when it is opened for new items. Its new version is durable before
// anybody acts on it, with one flush; then the survivors, the items on the list of used
// ones, get descriptors of the new version. While that goes on the zone is "switching":
// readers of its items wait, and the cleaner waits for nobody. A zone that is pinned is
// left for later instead.
#include <algorithm>
#include <span>
#include <thread>

#include "base/hash.h"
#include "base/test_hooks.h"
#include "kv_store/store.h"

namespace nvcache {
namespace {

constexpr int kPinSpins = 200;
constexpr int kOpenAttempts = 100;
constexpr double kStableShare = 0.8;

}  // namespace

// The zone is pinned on success.
bool KvStoreImpl::allocate(uint64_t item_bytes, Placed* placed) {
  Lane& lane = lanes_[thread_stripe() % lanes_.size()];
  for (int attempt = 0; attempt < kOpenAttempts;) {
    const uint64_t zone = lane.zone.load(std::memory_order_acquire);
    if (zone != kNoZone) {
      Zone& z = zones_[zone];
      z.pins.fetch_add(1, std::memory_order_seq_cst);
      // An open zone is not cleaned, and cannot be closed and cleaned while it is pinned.
      if (lane.zone.load(std::memory_order_seq_cst) == zone) {
        placed->version = version_of(zone);
        const uint64_t offset = z.cursor.fetch_add(item_bytes, std::memory_order_relaxed);
        if (offset + item_bytes <= geometry_.zone_bytes) {
          placed->zone = zone;
          placed->address = zone_at(zone) + offset;
          return true;
        }
      }
      unpin(zone);
    }
    bool opened = true;
    {
      MutexLock lock(space_mutex_);
      if (lane.zone.load(std::memory_order_relaxed) != zone) continue;
      lane.zone.store(kNoZone, std::memory_order_seq_cst);
      if (zone != kNoZone) full_.push_back(zone);
      const uint64_t next = open_zone();
      opened = next != kNoZone;
      lane.zone.store(next, std::memory_order_seq_cst);
    }
    if (failed_.load(std::memory_order_relaxed)) return false;
    if (!opened) {
      ++attempt;
      std::this_thread::yield();
    }
  }
  return false;
}

uint64_t KvStoreImpl::open_zone() {
  for (std::deque<uint64_t>* from : {&fresh_, &full_}) {
    for (size_t left = from->size(); left > 0; --left) {
      const uint64_t zone = from->front();
      from->pop_front();
      if (clean(zone)) return zone;
      from->push_back(zone);
      if (failed_.load(std::memory_order_relaxed)) return kNoZone;
    }
  }
  return kNoZone;
}

// The table's slot that leads to an item of the zone's present version.
bool KvStoreImpl::find_slot(uint64_t address, uint64_t hash, uint64_t zone, Survivor* survivor) {
  const Spot spot = spot_of_hash(hash);
  const uint64_t place = make_descriptor(address, kv_tag(spot.hash), 0, 0).place;
  const uint32_t version = version_of(zone);
  const auto matches = [&](uint64_t slot) {
    const KvDescriptor there = load_descriptor(slot);
    if (there.place != place || there.version() != version) return false;
    survivor->slot = slot;
    survivor->descriptor = there;
    return true;
  };
  for (uint64_t i = 0; i < kKvBucketSlots; ++i) {
    if (matches(spot.first_slot + i)) return true;
  }
  const uint64_t first = (spot.group + 1) * kKvGroupSlots - kKvOverflowSlots;
  for (uint64_t i = 0; i < kKvOverflowSlots; ++i) {
    if (matches(first + i)) return true;
  }
  return false;
}

// The zone's items from `*offset` on, up to kAhead of them, from header to header; none at
// the end. Each item's header and bucket are cache misses: those of many are waited for
// together, the headers on the guess that items in a row are of one size.
size_t KvStoreImpl::read_ahead(uint64_t zone, uint64_t* offset, std::array<Ahead, kAhead>* items) {
  size_t count = 0;
  for (KvItemView item; count < kAhead && item_at(zone, *offset, &item); ++count) {
    const uint64_t size_bytes = item.size_bytes();
    const uint64_t guess = *offset + kAhead / 4 * size_bytes;
    if (guess < geometry_.zone_bytes) __builtin_prefetch(base_ + zone_at(zone) + guess);
    const std::string_view key(reinterpret_cast<const char*>(item.key()), item.header.key_bytes);
    const uint64_t hash = hash_bytes(key);
    prefetch_bucket(spot_of_hash(hash));
    (*items)[count] = {.item = item, .offset = *offset, .hash = hash};
    *offset += size_bytes;
  }
  return count;
}

// After a crash a header may be lost: what lies behind it in the zone is then not found, and
// goes.
KvStoreImpl::Plan KvStoreImpl::survey(uint64_t zone) {
  const Zone& z = zones_[zone];
  const bool unchecked = z.unchecked.load(std::memory_order_relaxed);
  Plan plan;
  std::vector<Survivor> last_set;
  std::vector<Survivor> hot;
  uint64_t last_set_items = 0;
  uint64_t still_hot = 0;
  std::array<Ahead, kAhead> items;
  uint64_t next = 0;
  while (const size_t count = read_ahead(zone, &next, &items)) {
    for (const Ahead& each : std::span(items.data(), count)) {
      const uint64_t address = zone_at(zone) + each.offset;
      const bool in_last_set = each.offset < z.hot_line;
      last_set_items += in_last_set;
      Survivor survivor{.slot = 0,
                        .hash = each.hash,
                        .descriptor = {},
                        .offset = each.offset,
                        .size_bytes = each.item.size_bytes(),
                        .age = 0};
      if (!find_slot(address, each.hash, zone, &survivor) ||
          past(static_cast<uint32_t>(each.item.header.expiry)) ||
          (unchecked && !intact(address, survivor.descriptor, each.item))) {
        continue;
      }
      survivor.age = marks_->age(survivor.slot);
      // Right after a recovery, the hot line is all that is known about an old item's use.
      const bool is_hot = marks_->hot(survivor.slot) || (unchecked && in_last_set);
      if (in_last_set) {
        last_set.push_back(survivor);
        still_hot += is_hot;
      }
      if (is_hot) hot.push_back(survivor);
    }
  }
  plan.keeps_hot_set = last_set_items > 0 && static_cast<double>(still_hot) >=
                                                 kStableShare * static_cast<double>(last_set_items);
  const uint64_t room_bytes = geometry_.zone_bytes / 2;
  if (plan.keeps_hot_set) {
    plan.hot_line = z.hot_line;
    plan.kept = std::move(last_set);
    std::erase_if(hot, [&](const Survivor& each) { return each.offset < plan.hot_line; });
  }
  choose(std::move(hot), room_bytes - std::min(room_bytes, plan.hot_line), &plan);
  return plan;
}

// At least half of a cleaned zone is for new items: beyond that, those used last stay.
void KvStoreImpl::choose(std::vector<Survivor> hot, uint64_t room_bytes, Plan* plan) {
  uint64_t all_bytes = 0;
  for (const Survivor& each : hot) all_bytes += each.size_bytes;
  if (all_bytes > room_bytes) {
    std::stable_sort(hot.begin(), hot.end(),
                     [](const Survivor& a, const Survivor& b) { return a.age < b.age; });
  }
  uint64_t taken_bytes = 0;
  for (Survivor& each : hot) {
    if (taken_bytes + each.size_bytes > room_bytes) continue;
    taken_bytes += each.size_bytes;
    plan->relocated.push_back(each);
  }
}

bool KvStoreImpl::clean(uint64_t zone) {
  Zone& z = zones_[zone];
  if (z.pins.load(std::memory_order_acquire) != 0) return false;
  std::byte* header = header_at(zone);
  const bool fresh =
      load_word(header + offsetof(KvZoneHeader, sequence), std::memory_order_relaxed) == 0;
  const auto [live_items, live_bytes] = live();
  marks_->set_length(static_cast<uint64_t>(static_cast<double>(live_items) * config_.hot_share));
  const Plan plan = fresh ? Plan{} : survey(zone);

  const uint64_t version = z.serving.fetch_or(kSwitching, std::memory_order_seq_cst);
  for (int spin = 0; z.pins.load(std::memory_order_seq_cst) != 0; ++spin) {
    if (spin < kPinSpins) continue;
    z.serving.store(version, std::memory_order_seq_cst);
    return false;
  }
  uint64_t hot_line = plan.hot_line;
  for (const Survivor& each : plan.relocated) hot_line += each.size_bytes;
  const uint64_t items_before =
      load_word(header + offsetof(KvZoneHeader, live_items), std::memory_order_relaxed);
  const uint64_t next = next_version(zone, version);
  write_zone_header(zone, next, hot_line, ++sequence_);
  // Durable before anybody finds an item gone: see the note at the top of store.cc.
  if (flushes_updates() && !test_hooks.skip_zone_flush &&
      !persist(geometry_.headers_at + zone * kKvLineBytes, kKvLineBytes)) {
    z.serving.store(next, std::memory_order_seq_cst);
    return false;
  }
  revive(zone, next, plan);
  z.hot_line = hot_line;
  z.cursor.store(hot_line, std::memory_order_relaxed);
  z.unchecked.store(false, std::memory_order_relaxed);
  z.serving.store(next, std::memory_order_seq_cst);
  if (!fresh) {
    const uint64_t survived = plan.kept.size() + plan.relocated.size();
    add(KvCounter::kZonesCleaned);
    add(KvCounter::kHotSetsKept, plan.keeps_hot_set ? 1 : 0);
    // (The count is a hint after a crash: it may lie below what survived.)
    if (items_before > survived && items_before < geometry_.slots()) {
      add(KvCounter::kEvicted, items_before - survived);
    }
  }
  return true;
}

// Gives the survivors their descriptors of the new version. No flush: a survivor whose
// new descriptor a crash takes is lost, as an item inserted just now would be.
void KvStoreImpl::revive(uint64_t zone, uint64_t version, const Plan& plan) {
  const uint32_t low = static_cast<uint32_t>(version) & version_mask_;
  for (const Survivor& each : plan.kept) {
    const uint64_t address = each.descriptor.address();
    const uint32_t checksum =
        each.descriptor.checksum() ^ kv_version_mask(each.descriptor.version(), address);
    if (rewrite(each, make_descriptor(address, each.descriptor.tag(), low, checksum))) {
      count_live(zone, 1, static_cast<int64_t>(each.size_bytes));
    }
  }
  uint64_t moved_bytes = 0;
  for (const Survivor& each : plan.relocated) moved_bytes += each.size_bytes;
  if (moved_bytes == 0) return;
  // Through DRAM: where the items go to, others of them may still lie.
  if (scratch_.size() < moved_bytes) scratch_.resize(moved_bytes);
  uint64_t at = 0;
  for (const Survivor& each : plan.relocated) {
    std::memcpy(scratch_.data() + at, base_ + each.descriptor.address(), each.size_bytes);
    at += each.size_bytes;
  }
  const uint64_t to = zone_at(zone) + plan.hot_line;
  at = 0;
  for (const Survivor& each : plan.relocated) {
    uint64_t expiry = 0;
    uint64_t cas = 0;
    std::memcpy(&expiry, scratch_.data() + at, 8);
    std::memcpy(&cas, scratch_.data() + at + 8, 8);
    expiry = kv_expiry_word(static_cast<uint32_t>(expiry), cas, to + at, nonce_);
    std::memcpy(scratch_.data() + at, &expiry, 8);
    at += each.size_bytes;
  }
  std::memcpy(base_ + to, scratch_.data(), moved_bytes);
  if (flushes_all()) {
    persist(to, moved_bytes);
  } else {
    stored(to, moved_bytes);
  }
  add(KvCounter::kWrittenBytes, moved_bytes);
  add(KvCounter::kRelocated, plan.relocated.size());
  add(KvCounter::kRelocatedBytes, moved_bytes);
  at = 0;
  for (const Survivor& each : plan.relocated) {
    const uint64_t address = to + at;
    const uint32_t checksum = item_checksum(address, view_item(base_ + address));
    if (rewrite(each, make_descriptor(address, each.descriptor.tag(), low, checksum))) {
      count_live(zone, 1, static_cast<int64_t>(each.size_bytes));
    }
    at += each.size_bytes;
  }
}

// False where the item was deleted, or replaced, since it was found.
bool KvStoreImpl::rewrite(const Survivor& survivor, const KvDescriptor& descriptor) {
  Stripe& stripe = spot_of_hash(survivor.hash).stripe;
  MutexLock lock(stripe.mutex);
  if (load_descriptor(survivor.slot) != survivor.descriptor) return false;
  write_descriptor(stripe, survivor.slot, descriptor);
  if (flushes_all()) {
    persist_descriptor(survivor.slot);
  } else {
    stored(geometry_.table_at + survivor.slot * sizeof(KvDescriptor), sizeof(KvDescriptor));
  }
  return true;
}

// Descriptors hold the lower bits of a version: before these come round again, the
// descriptors that have any version of this zone are cleared.
uint64_t KvStoreImpl::next_version(uint64_t zone, uint64_t version) {
  uint64_t next = version + 1;
  if ((static_cast<uint32_t>(next) & version_mask_) == 0) {
    std::vector<bool> zones(geometry_.zones);
    zones[zone] = true;
    sweep(zones);
    ++next;
  }
  return next & kKvVersionMask;
}

void KvStoreImpl::sweep(const std::vector<bool>& zones) {
  for (uint64_t group = 0; group < geometry_.groups; ++group) {
    Stripe& stripe = stripes_[group & stripe_mask_];
    MutexLock lock(stripe.mutex);
    for (uint64_t slot = group * kKvGroupSlots; slot < (group + 1) * kKvGroupSlots; ++slot) {
      const KvDescriptor there = load_descriptor(slot);
      if (there.place == 0) continue;
      const uint64_t zone = zone_of(there.address());
      if (zone == kNoZone || zones[zone]) write_descriptor(stripe, slot, {});
    }
  }
  persist(geometry_.table_at, geometry_.slots() * sizeof(KvDescriptor));
}

void KvStoreImpl::write_zone_header(uint64_t zone, uint64_t version, uint64_t hot_line,
                                    uint64_t sequence) {
  std::byte* header = header_at(zone);
  const auto store = [&](size_t at, uint64_t value) {
    store_word(header + at, value, std::memory_order_relaxed);
  };
  store(offsetof(KvZoneHeader, sequence), sequence);
  store(offsetof(KvZoneHeader, hot_line), kv_hot_line_word(hot_line, version, zone, nonce_));
  store(offsetof(KvZoneHeader, live_items), 0);
  store(offsetof(KvZoneHeader, live_bytes), 0);
  store(offsetof(KvZoneHeader, version), kv_version_word(version, zone, nonce_));
}

// All zones get a new version: nothing that is stored is found any more. Zones that are
// open stay so, behind what is in them: readers may still hold it.
bool KvStoreImpl::renew_all() {
  std::vector<bool> open(geometry_.zones);
  for (const Lane& lane : lanes_) {
    const uint64_t zone = lane.zone.load(std::memory_order_relaxed);
    if (zone != kNoZone) open[zone] = true;
  }
  std::vector<uint64_t> versions(geometry_.zones);
  for (uint64_t zone = 0; zone < geometry_.zones; ++zone) {
    const uint64_t serving = zones_[zone].serving.load(std::memory_order_relaxed);
    versions[zone] = next_version(zone, serving);
    write_zone_header(zone, versions[zone], 0, open[zone] ? ++sequence_ : 0);
  }
  if (!persist(geometry_.headers_at, geometry_.zones * kKvLineBytes)) return false;
  for (uint64_t zone = 0; zone < geometry_.zones; ++zone) {
    zones_[zone].hot_line = 0;
    zones_[zone].serving.store(versions[zone], std::memory_order_seq_cst);
  }
  fresh_.insert(fresh_.end(), full_.begin(), full_.end());
  full_.clear();
  return true;
}

}  // namespace nvcache
