// Changing items: put, erase, touch, and what must be durable before each returns.
//
// The rule that keeps old values away: a descriptor that a reader could still follow is
// overwritten or cleared only together with a flush and a drain, under the lock of its
// stripe. So a later operation that finds nothing has nothing left to do: a DELETE that
// misses needs no flush of its own, for whatever made it miss is on the medium already:
// the clearing by another DELETE, the overwriting by an UPDATE, the move to the write
// cache, the loss of the slot to another key, or the new version of the item's zone, which
// the store begins to believe in only after it was drained (store_clean.cc). That is the
// third issue of the paper's section 2.
#include "kv_store/store.h"

#include <algorithm>
#include <thread>

#include "base/hash.h"
#include "base/test_hooks.h"

namespace nvcache {

bool KvStoreImpl::persist(uint64_t offset, uint64_t size_bytes) {
  add(KvCounter::kFlushes);
  add(KvCounter::kFlushedBytes, size_bytes);
  add(KvCounter::kFlushedLines,
      (offset + size_bytes + kKvLineBytes - 1) / kKvLineBytes - offset / kKvLineBytes);
  add(KvCounter::kDrains);
  absl::Status status = medium_.medium->flush({offset, size_bytes});
  if (status.ok()) status = medium_.medium->drain();
  if (!status.ok()) failed_.store(true, std::memory_order_relaxed);
  return status.ok();
}

// Stored in place, and not flushed: an emulated medium charges for it.
void KvStoreImpl::stored(uint64_t offset, uint64_t size_bytes) {
  if (emulated_) medium_.medium->on_direct_write({offset, size_bytes});
}

bool KvStoreImpl::persist_descriptor(uint64_t slot) {
  return persist(geometry_.table_at + slot * sizeof(KvDescriptor), sizeof(KvDescriptor));
}

// Readers never follow a mixture: the place is empty while the proof changes.
void KvStoreImpl::write_descriptor(Stripe& stripe, uint64_t slot, const KvDescriptor& descriptor) {
  std::byte* at = descriptor_at(slot);
  stripe.sequence.fetch_add(1, std::memory_order_acq_rel);
  store_word(at, 0, std::memory_order_release);
  if (descriptor.place != 0) {
    store_word(at + 8, descriptor.proof, std::memory_order_release);
    store_word(at, descriptor.place, std::memory_order_release);
  }
  stripe.sequence.fetch_add(1, std::memory_order_release);
}

void KvStoreImpl::count_live(uint64_t zone, int64_t items, int64_t item_bytes) {
  std::byte* header = header_at(zone);
  add_word(header + offsetof(KvZoneHeader, live_items), static_cast<uint64_t>(items));
  add_word(header + offsetof(KvZoneHeader, live_bytes), static_cast<uint64_t>(item_bytes));
}

std::optional<KvOutcome> KvStoreImpl::refused(const KvCondition& condition,
                                              const Current& now) const {
  const bool exists = now && !now.expired;
  switch (condition.kind) {
    case KvCondition::kAlways:
      return std::nullopt;
    case KvCondition::kIfAbsent:
      return exists ? std::optional(KvOutcome::kExists) : std::nullopt;
    case KvCondition::kIfPresent:
      return exists ? std::nullopt : std::optional(KvOutcome::kNotFound);
    case KvCondition::kIfCas:
      if (!exists) return KvOutcome::kNotFound;
      return now.cas == condition.cas ? std::nullopt : std::optional(KvOutcome::kExists);
  }
  return KvOutcome::kNotFound;
}

KvResult KvStoreImpl::put(std::string_view key, ByteView value, const KvMeta& meta,
                          KvCondition condition) {
  add(KvCounter::kPuts);
  const uint64_t item_bytes = kv_item_bytes(key.size(), value.size());
  if (key.empty() || key.size() > kMaxKvKeyBytes || value.size() > kMaxKvValueBytes ||
      item_bytes > geometry_.zone_bytes / 2) {
    add(KvCounter::kRefused);
    return {.outcome = KvOutcome::kTooLarge};
  }
  const Spot spot = spot_of(key);
  prefetch_bucket(spot);
  if (condition.kind != KvCondition::kAlways) {
    // Asked before the item is written, and again when it is published.
    const Current now = lock_current(spot, key);
    const auto refusal = refused(condition, now);
    spot.stripe.mutex.unlock();
    if (refusal) return {.outcome = *refusal};
  }
  KvMeta stored = meta;
  stored.cas = next_cas_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (cache_.enabled()) {
    KvBufferRef fallen;
    const bool often = cache_.note(spot.hash, &fallen);
    if (fallen) spill(fallen);
    // Two for each put, which makes one at most: they do not pile up.
    for (int i = 0; i < 2; ++i) {
      if (const KvBufferRef settled = cache_.settled()) spill(settled);
    }
    if (often && cache_.fits(item_bytes)) {
      if (const auto result = put_cached(spot, key, value, stored, condition)) return *result;
    }
  }
  return put_on_medium(spot, key, value, stored, condition);
}

// Empty where the write cache does not take the value.
std::optional<KvResult> KvStoreImpl::put_cached(const Spot& spot, std::string_view key,
                                                ByteView value, const KvMeta& meta,
                                                const KvCondition& condition) {
  const KvBufferRef buffer(KvBuffer::make(spot.hash, key, value, meta));
  Current now = lock_current(spot, key);
  std::optional<KvResult> result = KvResult{.outcome = KvOutcome::kDone, .cas = meta.cas};
  if (const auto refusal = refused(condition, now)) {
    result = KvResult{.outcome = *refusal};
  } else if (now.buffer) {
    if (cache_.replace(now.buffer.get(), buffer)) {
      add(KvCounter::kUpdates);
      add(KvCounter::kWriteCacheHits);
    } else {
      result.reset();
    }
  } else if (cache_.insert(buffer)) {
    spot.stripe.cached.fetch_add(1, std::memory_order_release);
    add(now ? KvCounter::kUpdates : KvCounter::kInserts);
    // The copy on the medium must not come back when this one is lost.
    if (now && !drop(spot, now)) result->outcome = KvOutcome::kNoSpace;
  } else {
    result.reset();
  }
  spot.stripe.mutex.unlock();
  return result;
}

KvResult KvStoreImpl::put_on_medium(const Spot& spot, std::string_view key, ByteView value,
                                    const KvMeta& meta, const KvCondition& condition) {
  Placed placed;
  const uint64_t item_bytes = kv_item_bytes(key.size(), value.size());
  if (failed_.load(std::memory_order_relaxed) || !allocate(item_bytes, &placed)) {
    add(KvCounter::kRefused);
    return {.outcome = KvOutcome::kNoSpace};
  }
  const Hold hold(this, placed.zone);
  prefetch_item(spot);
  write_item(key, value, meta, kv_tag(spot.hash), &placed);
  if (flushes_all() && !persist(placed.address, item_bytes)) {
    add(KvCounter::kRefused);
    return {.outcome = KvOutcome::kNoSpace};
  }
  for (;;) {
    Current now = lock_current(spot, key);
    if (const auto refusal = refused(condition, now)) {
      spot.stripe.mutex.unlock();
      return {.outcome = *refusal};
    }
    const bool published = publish(spot, placed, item_bytes, now);
    spot.stripe.mutex.unlock();
    if (failed_.load(std::memory_order_relaxed)) return {.outcome = KvOutcome::kNoSpace};
    if (published) return {.outcome = KvOutcome::kDone, .cas = meta.cas};
    std::this_thread::yield();
  }
}

void KvStoreImpl::write_item(std::string_view key, ByteView value, const KvMeta& meta, uint32_t tag,
                             Placed* placed) {
  const KvItemHeader header = {
      .expiry = kv_expiry_word(meta.expires_s, meta.cas, placed->address, nonce_),
      .cas = meta.cas,
      .flags = meta.flags,
      .value_bytes = static_cast<uint32_t>(value.size()),
      .key_bytes = static_cast<uint8_t>(key.size())};
  std::byte* to = base_ + placed->address;
  const uint64_t item_bytes = kv_item_bytes(key.size(), value.size());
  add(KvCounter::kWrittenBytes, item_bytes);
  write_item_header(to, header);
  std::memcpy(to + kKvItemHeaderBytes, key.data(), key.size());
  if (!value.empty()) std::memcpy(to + kKvItemHeaderBytes + key.size(), value.data(), value.size());
  if (!flushes_all()) stored(placed->address, item_bytes);
  placed->descriptor =
      make_descriptor(placed->address, tag, placed->version,
                      item_checksum(placed->address, {.bytes = to, .header = header}));
}

// A slot that holds nothing a reader could follow; where there is none, that of the
// bucket's item that was used longest ago. False: look again.
bool KvStoreImpl::choose_slot(const Spot& spot, uint64_t* slot, bool* evicts) {
  *evicts = false;
  bool switching = false;
  uint32_t oldest = 0;
  uint64_t victim = ~uint64_t{0};
  const auto usable = [&](uint64_t candidate) {
    const KvDescriptor there = load_descriptor(candidate);
    if (there.place == 0) return true;
    const uint64_t zone = zone_of(there.address());
    if (zone == kNoZone) return true;
    const uint64_t serving = zones_[zone].serving.load(std::memory_order_seq_cst);
    if ((serving & kSwitching) != 0) {
      switching = true;
      return false;
    }
    return (static_cast<uint32_t>(serving) & version_mask_) != there.version();
  };
  for (uint64_t i = spot.first_slot; i < spot.first_slot + kKvBucketSlots; ++i) {
    if (usable(i)) return *slot = i, true;
    const uint32_t age = marks_->age(i);
    if (victim == ~uint64_t{0} || age > oldest) {
      victim = i;
      oldest = age;
    }
  }
  const uint64_t first = (spot.group + 1) * kKvGroupSlots - kKvOverflowSlots;
  for (uint64_t i = first; i < first + kKvOverflowSlots; ++i) {
    if (!usable(i)) continue;
    std::atomic_ref<uint8_t>(overflows_[spot.group]).store(1, std::memory_order_release);
    return *slot = i, true;
  }
  if (switching) return false;
  *evicts = true;
  *slot = victim;
  return true;
}

// False: nothing was changed, try again.
bool KvStoreImpl::publish(const Spot& spot, const Placed& placed, uint64_t item_bytes,
                          const Current& now) {
  uint64_t slot = now.found.slot;
  bool invalidates = now && !now.buffer;  // a descriptor that could be followed goes
  if (invalidates) {
    count_live(now.found.zone, -1, -static_cast<int64_t>(now.found.item.size_bytes()));
  } else {
    bool evicts = false;
    if (!choose_slot(spot, &slot, &evicts)) return false;
    if (evicts) {
      const KvDescriptor victim = load_descriptor(slot);
      const uint64_t zone = zone_of(victim.address());
      bool unsure = false;
      if (!pin(zone, victim.version(), &unsure)) return false;
      KvItemView item;
      if (item_at(zone, victim.address() - zone_at(zone), &item)) {
        count_live(zone, -1, -static_cast<int64_t>(item.size_bytes()));
      }
      unpin(zone);
      add(KvCounter::kEvicted);
      invalidates = true;
    }
    marks_->forget(slot);
  }
  write_descriptor(spot.stripe, slot, placed.descriptor);
  if (version_of(placed.zone) == placed.version) {
    count_live(placed.zone, 1, static_cast<int64_t>(item_bytes));
  }
  add(now ? KvCounter::kUpdates : KvCounter::kInserts);
  if (now.buffer && cache_.take(now.buffer.get())) {
    spot.stripe.cached.fetch_sub(1, std::memory_order_release);
  }
  // One line holds the end of the old descriptor and the new one.
  if ((invalidates && flushes_updates()) || flushes_all()) {
    persist_descriptor(slot);
  } else {
    stored(geometry_.table_at + slot * sizeof(KvDescriptor), sizeof(KvDescriptor));
  }
  if (config_.durability == Durability::kEachLru) {
    marks_->use(slot);
    persist(geometry_.marks_at + slot, 1);
  }
  return true;
}

// Clears the descriptor of what is on the medium, durably.
bool KvStoreImpl::drop(const Spot& spot, const Current& now) {
  write_descriptor(spot.stripe, now.found.slot, {});
  count_live(now.found.zone, -1, -static_cast<int64_t>(now.found.item.size_bytes()));
  if (test_hooks.skip_delete_flush) return true;
  return !flushes_updates() || persist_descriptor(now.found.slot);
}

KvResult KvStoreImpl::erase(std::string_view key, uint64_t cas) {
  add(KvCounter::kErases);
  const Spot spot = spot_of(key);
  Current now = lock_current(spot, key);
  KvResult result;
  if (!now) {
    result.outcome = KvOutcome::kNotFound;
  } else if (cas != 0 && !now.expired && now.cas != cas) {
    result.outcome = KvOutcome::kExists;
  } else {
    if (now.expired) result.outcome = KvOutcome::kNotFound;
    if (now.buffer) {
      spot.stripe.sequence.fetch_add(1, std::memory_order_acq_rel);
      if (cache_.take(now.buffer.get())) {
        spot.stripe.cached.fetch_sub(1, std::memory_order_release);
      }
      spot.stripe.sequence.fetch_add(1, std::memory_order_release);
    } else if (!drop(spot, now)) {
      result.outcome = KvOutcome::kNoSpace;
    }
  }
  spot.stripe.mutex.unlock();
  if (failed_.load(std::memory_order_relaxed)) result.outcome = KvOutcome::kNoSpace;
  return result;
}

KvOutcome KvStoreImpl::touch(std::string_view key, uint32_t expires_s) {
  const Spot spot = spot_of(key);
  Current now = lock_current(spot, key);
  KvOutcome outcome = KvOutcome::kDone;
  if (!now || now.expired) {
    outcome = KvOutcome::kNotFound;
  } else if (now.buffer) {
    now.buffer->set_expires_s(expires_s);
  } else {
    const uint64_t address = now.found.descriptor.address();
    const auto before_s = static_cast<uint32_t>(now.found.item.header.expiry);
    store_word(base_ + address, kv_expiry_word(expires_s, now.cas, address, nonce_),
               std::memory_order_relaxed);
    // A longer life that a crash takes back costs a miss; a shorter one must not be undone.
    const bool shorter = expires_s != 0 && (before_s == 0 || expires_s < before_s);
    if (((shorter && flushes_updates()) || flushes_all()) && !persist(address, kKvExpiryBytes)) {
      outcome = KvOutcome::kNoSpace;
    }
  }
  spot.stripe.mutex.unlock();
  return outcome;
}

// Moves a value that is not written often any more from the write cache to the medium. It
// is an insertion there: no older copy is valid, so nothing is flushed.
void KvStoreImpl::spill(const KvBufferRef& buffer) {
  const Spot spot = spot_of_hash(buffer->hash());
  const uint64_t item_bytes = kv_item_bytes(buffer->key().size(), buffer->value().size());
  Placed placed;
  const bool written = !failed_.load(std::memory_order_relaxed) && allocate(item_bytes, &placed);
  const Hold hold = written ? Hold(this, placed.zone) : Hold();
  // The time of expiry may be set until the stripe is locked.
  KvMeta meta = buffer->meta();
  if (written) write_item(buffer->key(), buffer->value(), meta, kv_tag(spot.hash), &placed);
  for (bool done = false; !done;) {
    Current now = lock_current(spot, buffer->key());
    done = true;
    if (now.buffer.get() == buffer.get()) {
      if (written && buffer->meta().expires_s != meta.expires_s) {
        meta = buffer->meta();
        store_word(base_ + placed.address,
                   kv_expiry_word(meta.expires_s, meta.cas, placed.address, nonce_),
                   std::memory_order_relaxed);
      }
      if (written) {
        done = publish(spot, placed, item_bytes, now);
      } else if (cache_.take(buffer.get())) {
        spot.stripe.sequence.fetch_add(2, std::memory_order_acq_rel);
        spot.stripe.cached.fetch_sub(1, std::memory_order_release);
        add(KvCounter::kEvicted);
      }
    }
    spot.stripe.mutex.unlock();
    if (!done) std::this_thread::yield();
  }
}

void KvStoreImpl::spill_all() {
  for (const KvBufferRef& buffer : cache_.all()) spill(buffer);
}

void KvStoreImpl::clear() {
  MutexLock lock(space_mutex_);
  const uint64_t bound = next_cas_.load(std::memory_order_relaxed);
  for (const KvBufferRef& buffer : cache_.all()) {
    if (buffer->meta().cas > bound) continue;
    Stripe& stripe = spot_of_hash(buffer->hash()).stripe;
    MutexLock stripe_lock(stripe.mutex);
    stripe.sequence.fetch_add(1, std::memory_order_acq_rel);
    if (cache_.take(buffer.get())) stripe.cached.fetch_sub(1, std::memory_order_release);
    stripe.sequence.fetch_add(1, std::memory_order_release);
  }
  renew_all();
}

absl::Status KvStoreImpl::sync() {
  spill_all();
  absl::Status status;
  if (medium_.file != nullptr) {
    status = medium_.file->sync_all();
  } else {
    status = medium_.medium->flush({0, geometry_.size_bytes});
    if (status.ok()) status = medium_.medium->drain();
  }
  if (status.ok() && failed_.load(std::memory_order_relaxed)) {
    status = absl::DataLossError("the medium failed earlier: what was acknowledged may be lost");
  }
  return status;
}

}  // namespace nvcache
