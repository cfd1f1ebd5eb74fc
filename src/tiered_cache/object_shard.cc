#include "tiered_cache/object_shard.h"

#include <algorithm>

#include "base/test_hooks.h"

namespace nvcache {
namespace {
constexpr size_t kBucketsPerInspection = 64;
}

ObjectShard::ObjectShard(const Options& options, LowerTiers* lower_tiers)
    : lower_tiers_(lower_tiers),
      high_share_(options.high_share),
      low_share_(options.low_share),
      capacity_bytes_(options.capacity_bytes),
      strict_(options.strict) {
  lists_.charge_metadata(options.charge_metadata);
  MutexLock lock(mutex_);
  size_pools();
}

ObjectShard::~ObjectShard() = default;

void ObjectShard::size_pools() {
  const auto share_of = [capacity = static_cast<double>(capacity_bytes_)](double share) {
    return static_cast<size_t>(share * capacity);
  };
  lists_.set_pool_sizes(share_of(high_share_), share_of(low_share_));
}

// ---- in

bool ObjectShard::enter(ObjectEntry* entry, RemovedEntries* removed) {
  if (lower_tiers_ != nullptr) lower_tiers_->supersede(entry->key(), entry->hash);
  use_.charged_bytes += charge_of(*entry);
  entry->charged = true;
  entry->resident = true;
  ObjectEntry* const old = table_.insert(entry);
  if (old != nullptr) take_out(old, Departure::kErased, removed);
  return old != nullptr;
}

bool ObjectShard::insert(ObjectEntry* entry, bool hold, RemovedEntries* removed, bool* replaced) {
  MutexLock lock(mutex_);
  const size_t charge_bytes = charge_of(*entry);
  make_room(charge_bytes, removed);
  const bool fits = use_.charged_bytes + charge_bytes <= capacity_bytes_;
  if (!fits && strict_ && hold) return false;
  ++use_.inserts;
  if (!fits && !hold) {
    if (ObjectEntry* const old = table_.find(entry->key(), entry->hash); old != nullptr) {
      table_.remove(old);
      take_out(old, Departure::kErased, removed);
      *replaced = true;
    }
    if (lower_tiers_ != nullptr) lower_tiers_->supersede(entry->key(), entry->hash);
    leave(entry, Departure::kEvicted, removed);
    return true;
  }
  *replaced = enter(entry, removed);
  entry->references = hold ? 1 : 0;
  if (!hold) lists_.add(entry, charge_bytes);
  return true;
}

bool ObjectShard::promote(ObjectEntry* entry, uint32_t token, RemovedEntries* removed) {
  MutexLock lock(mutex_);
  if (lower_tiers_->token(entry->hash) != token ||
      table_.find(entry->key(), entry->hash) != nullptr) {
    return false;
  }
  const size_t charge_bytes = charge_of(*entry);
  make_room(charge_bytes, removed);
  if (use_.charged_bytes + charge_bytes > capacity_bytes_) return false;
  ++use_.promoted_in;
  enter(entry, removed);
  entry->references = 1;
  entry->was_hit = true;
  return true;
}

bool ObjectShard::restore(ObjectEntry* entry, bool count, RemovedEntries* removed) {
  MutexLock lock(mutex_);
  const bool stale = lower_tiers_->token(entry->hash) != entry->token && !test_hooks.restore_stale;
  if (stale || table_.find(entry->key(), entry->hash) != nullptr) return false;
  const size_t charge_bytes = charge_of(*entry);
  make_room(charge_bytes, removed);
  if (strict_ && use_.charged_bytes + charge_bytes > capacity_bytes_) return false;
  use_.hits += count ? 1 : 0;
  enter(entry, removed);
  entry->references = 1;
  entry->was_hit = true;
  return true;
}

uint32_t ObjectShard::replace(std::string_view key, uint64_t hash, RemovedEntries* removed) {
  MutexLock lock(mutex_);
  if (ObjectEntry* const old = table_.find(key, hash); old != nullptr) {
    table_.remove(old);
    take_out(old, Departure::kErased, removed);
  }
  if (lower_tiers_ == nullptr) return 0;
  lower_tiers_->supersede(key, hash);
  return lower_tiers_->token(hash);
}

void ObjectShard::visit(ObjectEntry* entry) {
  MutexLock lock(mutex_);
  entry->references = 1;
  use_.visiting_bytes += charge_of(*entry);
}

// ---- out

void ObjectShard::make_room(size_t charge_bytes, RemovedEntries* removed) {
  while (use_.charged_bytes + charge_bytes > capacity_bytes_) {
    ObjectEntry* const victim = lists_.victim();
    if (victim == nullptr) return;
    table_.remove(victim);
    take_out(victim, Departure::kEvicted, removed);
  }
}

// The entry is out of the table already. It goes now, or with its last reference.
void ObjectShard::take_out(ObjectEntry* entry, Departure departure, RemovedEntries* removed) {
  entry->resident = false;
  if (entry->listed) lists_.remove(entry, charge_of(*entry));
  if (entry->references > 0) return;
  leave(entry, departure, removed);
}

void ObjectShard::leave(ObjectEntry* entry, Departure departure, RemovedEntries* removed) {
  if (entry->charged) use_.charged_bytes -= charge_of(*entry);
  entry->charged = false;
  entry->departure = departure;
  entry->token = lower_tiers_ != nullptr ? lower_tiers_->token(entry->hash) : 0;
  removed->push(entry);
}

bool ObjectShard::release(ObjectEntry* entry, bool erase_if_last, RemovedEntries* removed) {
  MutexLock lock(mutex_);
  if (--entry->references > 0) return false;
  if (!entry->resident) {
    if (!entry->charged) use_.visiting_bytes -= charge_of(*entry);
    leave(entry, Departure::kOutside, removed);
    return true;
  }
  // Held objects made the shard grow beyond its capacity: give this one back.
  const bool over = use_.charged_bytes > capacity_bytes_;
  if (!erase_if_last && !over) {
    if (!entry->listed) lists_.add(entry, charge_of(*entry));
    return false;
  }
  table_.remove(entry);
  take_out(entry, erase_if_last ? Departure::kErased : Departure::kEvicted, removed);
  return true;
}

void ObjectShard::set_capacity(size_t capacity_bytes, RemovedEntries* removed) {
  MutexLock lock(mutex_);
  capacity_bytes_ = capacity_bytes;
  size_pools();
  make_room(0, removed);
}

void ObjectShard::set_strict(bool strict) {
  MutexLock lock(mutex_);
  strict_ = strict;
}

void ObjectShard::erase_idle(RemovedEntries* removed) {
  MutexLock lock(mutex_);
  while (ObjectEntry* const victim = lists_.victim()) {
    table_.remove(victim);
    take_out(victim, Departure::kErased, removed);
  }
}

// ---- lookups

ObjectEntry* ObjectShard::find(std::string_view key, uint64_t hash, bool count) {
  MutexLock lock(mutex_);
  ObjectEntry* const entry = table_.find(key, hash);
  use_.lookups += count ? 1 : 0;
  if (entry == nullptr) return nullptr;
  use_.hits += count ? 1 : 0;
  if (entry->listed) lists_.remove(entry, charge_of(*entry));
  ++entry->references;
  entry->was_hit = true;
  return entry;
}

void ObjectShard::ref(ObjectEntry* entry) {
  MutexLock lock(mutex_);
  ++entry->references;
}

bool ObjectShard::inspect(size_t* bucket, std::vector<ObjectEntry*>* held) {
  MutexLock lock(mutex_);
  const size_t end = std::min(table_.buckets(), *bucket + kBucketsPerInspection);
  for (; *bucket < end; ++*bucket) {
    for (ObjectEntry* entry = table_.first_in(*bucket); entry != nullptr;
         entry = entry->next_in_bucket) {
      ++entry->references;
      held->push_back(entry);
    }
  }
  return *bucket < table_.buckets();
}

ObjectShard::Use ObjectShard::use() const {
  MutexLock lock(mutex_);
  Use use = use_;
  use.idle_bytes = lists_.bytes();
  use.entries = table_.entries();
  use.buckets = table_.buckets();
  return use;
}

double ObjectShard::used_share() const {
  MutexLock lock(mutex_);
  if (capacity_bytes_ == 0) return 1;
  return static_cast<double>(use_.charged_bytes) / static_cast<double>(capacity_bytes_);
}

}  // namespace nvcache
