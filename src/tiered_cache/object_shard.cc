#include "tiered_cache/object_shard.h"

#include <algorithm>

#include "base/assert.h"
#include "base/test_hooks.h"

namespace nvcache {
namespace {
constexpr size_t kBucketsPerInspection = 64;
constexpr size_t kMostHeld = 256;  // that an eviction parks at once

// A strict shard refuses what finds no room, so it looks at all that is not parked. Another one
// grows by this object, and goes on from there when the next one comes.
size_t most_held(const SharedRoom& room) { return room.strict() ? SIZE_MAX : kMostHeld; }
}  // namespace

void RemovedEntries::end_all() {
  while (ObjectEntry* const entry = first_) {
    first_ = entry->next_removed;
    ender_->end_removed(entry);
  }
}

ObjectShard::ObjectShard(bool charge_metadata, LowerTiers* lower_tiers, SharedRoom* room,
                         TierCounters* counts)
    : counts_(*counts),
      lower_tiers_(lower_tiers),
      room_(*room),
      charge_metadata_(charge_metadata),
      lists_(*room) {
  MutexLock lock(mutex_);
  note_part();
}

ObjectShard::~ObjectShard() = default;

void ObjectShard::note_part() {
  noted_part_bytes_.store(static_cast<size_t>(std::max<int64_t>(0, part_bytes())),
                          std::memory_order_relaxed);
}

// ---- in

bool ObjectShard::enter(ObjectEntry* entry, SharedRoom::Taken* taken, uint32_t held_by, bool hit,
                        RemovedEntries* removed) {
  NVCACHE_ASSERT(!entry->charged && !entry->large && !entry->is_resident());
  lower_tiers_->supersede(entry->key(), entry->hash);
  keep(taken, entry);
  add(charged_bytes_, entry->used_bytes);
  entry->charged = true;
  if (held_by > 0) counts_.add(TierCount::kPinnedBytes, entry->used_bytes);
  ObjectEntry* const old = table_.insert(entry);
  if (old != nullptr) take_out(old, removed);
  // Only now: a lookup that already has its address must not find it before all others do.
  entry->enter(held_by, hit);
  lists_.add(entry);
  return old != nullptr;
}

ObjectShard::Entry ObjectShard::insert(ObjectEntry* entry, bool hold, const MissToken& token,
                                       RemovedEntries* removed, bool* replaced) {
  if (is_stale(entry->hash, token)) return Entry::kStale;
  SharedRoom::Taken taken(room_, entry->used_bytes, removed);
  MutexLock lock(mutex_);
  if (is_stale(entry->hash, token)) return Entry::kStale;
  const Sequence::Change change(changes_);
  make_room(wanted_bytes(*entry, taken), removed);
  const bool room = has_room(*entry, taken);
  if (!room && room_.strict() && hold) return Entry::kFull;
  counts_.add(TierCount::kInserts, 1);
  if (room || hold) {
    *replaced = enter(entry, &taken, hold ? 1 : 0, /*hit=*/false, removed);
    return Entry::kDone;
  }
  if (ObjectEntry* const old = table_.find(entry->key(), entry->hash); old != nullptr) {
    erase(old, removed);
    *replaced = true;
  }
  lower_tiers_->supersede(entry->key(), entry->hash);
  leave(entry, Departure::kEvicted, removed);
  return Entry::kDone;
}

bool ObjectShard::promote(ObjectEntry* entry, uint32_t token, RemovedEntries* removed) {
  SharedRoom::Taken taken(room_, entry->used_bytes, removed);
  MutexLock lock(mutex_);
  const Sequence::Change change(changes_);
  if (lower_tiers_->token(entry->hash) != token ||
      table_.find(entry->key(), entry->hash) != nullptr) {
    return false;
  }
  make_room(wanted_bytes(*entry, taken), removed);
  if (!has_room(*entry, taken)) return false;
  counts_.add(TierCount::kPromotedIn, 1);
  enter(entry, &taken, 1, /*hit=*/true, removed);
  return true;
}

bool ObjectShard::restore(ObjectEntry* entry, bool count, RemovedEntries* removed) {
  SharedRoom::Taken taken(room_, entry->used_bytes, removed);
  MutexLock lock(mutex_);
  const Sequence::Change change(changes_);
  const bool stale = lower_tiers_->token(entry->hash) != entry->token && !test_hooks.restore_stale;
  if (stale || table_.find(entry->key(), entry->hash) != nullptr) return false;
  make_room(wanted_bytes(*entry, taken), removed);
  if (room_.strict() && !has_room(*entry, taken)) return false;
  counts_.add(TierCount::kHits, count ? 1 : 0);
  enter(entry, &taken, 1, /*hit=*/true, removed);
  return true;
}

std::optional<uint32_t> ObjectShard::replace(std::string_view key, uint64_t hash,
                                             const MissToken& token, RemovedEntries* removed) {
  MutexLock lock(mutex_);
  if (is_stale(hash, token)) return std::nullopt;
  const Sequence::Change change(changes_);
  if (ObjectEntry* const old = table_.find(key, hash); old != nullptr) erase(old, removed);
  lower_tiers_->supersede(key, hash);
  return lower_tiers_->token(hash);
}

bool ObjectShard::visit(ObjectEntry* entry, RemovedEntries* removed) {
  if (!room_.strict()) return visit_beyond_limit(entry);
  SharedRoom::Taken taken(room_, entry->used_bytes, removed);
  MutexLock lock(mutex_);
  const Sequence::Change change(changes_);
  make_room(wanted_bytes(*entry, taken), removed);
  if (!has_room(*entry, taken)) return false;
  keep(&taken, entry);
  enter_as_visitor(entry);
  return true;
}

bool ObjectShard::visit_beyond_limit(ObjectEntry* entry) {
  MutexLock lock(mutex_);
  enter_as_visitor(entry);
  return true;
}

void ObjectShard::enter_as_visitor(ObjectEntry* entry) {
  entry->hold_outside();
  add(visiting_bytes_, entry->used_bytes);
  add(outside_bytes_, entry->used_bytes);
}

// ---- out

void ObjectShard::make_room(size_t bytes, RemovedEntries* removed) {
  while (!fits(bytes) && bytes <= room_.capacity_bytes()) {
    ObjectEntry* const victim = lists_.take_victim(most_held(room_));
    if (victim == nullptr) break;
    evict(victim, removed);
  }
  note_part();
}

ObjectShard::Shrunk ObjectShard::evict_beyond_part(size_t step, RemovedEntries* removed) {
  MutexLock lock(mutex_);
  note_part();
  if (step == 0) lists_.spill();
  if (fits(0)) return {.fits = true, .evicted = false, .has_more = false};
  const Sequence::Change change(changes_);
  size_t held_left = most_held(room_);
  bool evicted = false;
  while (!fits(0)) {
    ObjectEntry* const victim = lists_.take_victim(step, &held_left);
    if (victim == nullptr) break;
    evict(victim, removed);
    evicted = true;
  }
  note_part();
  return {.fits = fits(0), .evicted = evicted, .has_more = !lists_.empty()};
}

void ObjectShard::evict(ObjectEntry* victim, RemovedEntries* removed) {
  table_.remove(victim);
  leave(victim, Departure::kEvicted, removed);
}

void ObjectShard::erase(ObjectEntry* entry, RemovedEntries* removed) {
  table_.remove(entry);
  take_out(entry, removed);
}

// The entry is out of the table already. It goes now, or with its last reference.
void ObjectShard::take_out(ObjectEntry* entry, RemovedEntries* removed) {
  lists_.remove(entry);
  if (entry->leave()) {
    leave(entry, Departure::kErased, removed);
    return;
  }
  counts_.add(TierCount::kPinnedBytes, -entry->used_bytes);
  add(outside_bytes_, entry->used_bytes);
}

void ObjectShard::leave(ObjectEntry* entry, Departure departure, RemovedEntries* removed) {
  NVCACHE_ASSERT(!entry->is_resident() && !entry->is_held());
  if (entry->charged) {
    NVCACHE_ASSERT(charged_bytes_.load(std::memory_order_relaxed) >= entry->used_bytes);
    add(charged_bytes_, -entry->used_bytes);
  }
  entry->charged = false;
  if (entry->large) {
    NVCACHE_ASSERT(large_bytes_ >= entry->used_bytes);
    large_bytes_ -= entry->used_bytes;
    room_.give_back(entry->used_bytes);
  }
  entry->large = false;
  entry->departure = departure;
  entry->token = lower_tiers_->token(entry->hash);
  removed->push(entry, lower_tiers_);
}

bool ObjectShard::release(ObjectEntry* entry, bool erase_if_last, RemovedEntries* removed) {
  // Held objects made the shard grow beyond its part: give this one back.
  const bool over = charged_bytes_.load(std::memory_order_relaxed) >
                    noted_part_bytes_.load(std::memory_order_relaxed);
  if (erase_if_last || over) return release_locked(entry, erase_if_last, removed);
  const size_t used_bytes = entry->used_bytes;
  const ObjectEntry::Released released = entry->drop();
  if (!released.last) return false;
  if (released.resident) {
    counts_.add(TierCount::kPinnedBytes, -used_bytes);
    if (released.parked) [[unlikely]]
      bring_back(entry);
    return false;
  }
  MutexLock lock(mutex_);
  leave_outside(entry, removed);
  return true;
}

void ObjectShard::bring_back(ObjectEntry* entry) {
  MutexLock lock(mutex_);
  lists_.bring_back(entry);
}

void ObjectShard::leave_outside(ObjectEntry* entry, RemovedEntries* removed) {
  if (!entry->charged) {
    NVCACHE_ASSERT(visiting_bytes_.load(std::memory_order_relaxed) >= entry->used_bytes);
    add(visiting_bytes_, -entry->used_bytes);
  }
  NVCACHE_ASSERT(outside_bytes_.load(std::memory_order_relaxed) >= entry->used_bytes);
  add(outside_bytes_, -entry->used_bytes);
  leave(entry, Departure::kOutside, removed);
}

bool ObjectShard::release_locked(ObjectEntry* entry, bool erase_if_last, RemovedEntries* removed) {
  MutexLock lock(mutex_);
  const ObjectEntry::Released released = entry->drop();
  if (!released.last) return false;
  if (!released.resident) {
    leave_outside(entry, removed);
    return true;
  }
  // The lock keeps a resident entry where it is, though a lookup may hold it again.
  counts_.add(TierCount::kPinnedBytes, -entry->used_bytes);
  if (released.parked) lists_.bring_back(entry);
  note_part();
  if ((!erase_if_last && fits(0)) || !entry->leave_if_idle()) return false;
  const Sequence::Change change(changes_);
  table_.remove(entry);
  lists_.remove(entry);
  leave(entry, erase_if_last ? Departure::kErased : Departure::kEvicted, removed);
  return true;
}

void ObjectShard::erase_idle(RemovedEntries* removed) {
  MutexLock lock(mutex_);
  const Sequence::Change change(changes_);
  lists_.take_idle([&](ObjectEntry* entry) {
    mutex_.assert_held();
    table_.remove(entry);
    leave(entry, Departure::kErased, removed);
  });
}

// ---- lookups

ObjectEntry* ObjectShard::find(std::string_view key, uint64_t hash, bool count,
                               RemovedEntries* removed) {
  const uint64_t before = changes_.now();
  const ObjectTable::Hold hold = table_.hold(key, hash);
  if (hold.first) counts_.add(TierCount::kPinnedBytes, hold.entry->used_bytes);
  ObjectEntry* entry = hold.entry;
  if (hold.found != ObjectTable::Found::kHeld) {
    if (entry != nullptr) release(entry, /*erase_if_last=*/false, removed);
    const bool certain = hold.found == ObjectTable::Found::kAbsent &&
                         (changes_.is_still(before) || test_hooks.believe_absence);
    entry = certain ? nullptr : find_locked(key, hash);
  }
  if (count) {
    TierCounters::Stripe& mine = counts_.mine();
    mine.add(TierCount::kLookups, 1);
    mine.add(TierCount::kHits, entry != nullptr ? 1 : 0);
  }
  return entry;
}

ObjectEntry* ObjectShard::find_locked(std::string_view key, uint64_t hash) {
  MutexLock lock(mutex_);
  ObjectEntry* const entry = table_.find(key, hash);
  bool first = false;
  if (entry == nullptr || !entry->try_hold(hash, &first)) return nullptr;
  if (first) counts_.add(TierCount::kPinnedBytes, entry->used_bytes);
  return entry;
}

void ObjectShard::ref(ObjectEntry* entry) { entry->hold(); }

bool ObjectShard::inspect(size_t* bucket, std::vector<ObjectEntry*>* held) {
  MutexLock lock(mutex_);
  const size_t end = std::min(table_.buckets(), *bucket + kBucketsPerInspection);
  for (; *bucket < end; ++*bucket) {
    for (ObjectEntry* entry = table_.first_in(*bucket); entry != nullptr;
         entry = entry->next_in_bucket.load(std::memory_order_relaxed)) {
      if (entry->hold()) counts_.add(TierCount::kPinnedBytes, entry->used_bytes);
      held->push_back(entry);
    }
  }
  return *bucket < table_.buckets();
}

ObjectShard::Use ObjectShard::use() const {
  return {.charged_bytes = charged_bytes_.load(std::memory_order_relaxed),
          .visiting_bytes = visiting_bytes_.load(std::memory_order_relaxed),
          .outside_bytes = outside_bytes_.load(std::memory_order_relaxed),
          .entries = table_.entries(),
          .buckets = table_.buckets()};
}

double ObjectShard::used_share() const {
  const auto part = static_cast<double>(noted_part_bytes_.load(std::memory_order_relaxed));
  if (part == 0) return 1;
  return static_cast<double>(charged_bytes_.load(std::memory_order_relaxed)) / part;
}

}  // namespace nvcache
