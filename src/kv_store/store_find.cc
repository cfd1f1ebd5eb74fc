// Finding items: descriptors, pins, checks.
#include <thread>

#include "base/hash.h"
#include "kv_store/store.h"

namespace nvcache {

KvStoreImpl::Spot KvStoreImpl::spot_of(std::string_view key) {
  return spot_of_hash(hash_bytes(key));
}

KvStoreImpl::Spot KvStoreImpl::spot_of_hash(uint64_t hash) {
  const uint64_t buckets = geometry_.groups * kKvGroupBuckets;
  const auto bucket = static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * buckets) >> 64);
  const uint64_t group = bucket / kKvGroupBuckets;
  return {.hash = hash,
          .group = group,
          .first_slot = group * kKvGroupSlots + bucket % kKvGroupBuckets * kKvBucketSlots,
          .stripe = stripes_[group & stripe_mask_]};
}

void KvStoreImpl::prefetch_bucket(const Spot& spot) const {
  const std::byte* const bucket = descriptor_at(spot.first_slot);
  static_assert(kKvBucketSlots * sizeof(KvDescriptor) == 128);
  __builtin_prefetch(bucket);
  __builtin_prefetch(bucket + 64);
  __builtin_prefetch(&spot.stripe, /*rw=*/1);
}

void KvStoreImpl::prefetch_item(const Spot& spot) const {
  const uint32_t tag = kv_tag(spot.hash);
  for (uint64_t slot = spot.first_slot; slot < spot.first_slot + kKvBucketSlots; ++slot) {
    const KvDescriptor there = load_descriptor(slot);
    if (there.place == 0 || there.tag() != tag) continue;
    const uint64_t zone = zone_of(there.address());
    if (zone == kNoZone) continue;
    __builtin_prefetch(base_ + there.address());
    __builtin_prefetch(&zones_[zone], /*rw=*/1);
    __builtin_prefetch(header_at(zone), /*rw=*/1);
  }
}

std::byte* KvStoreImpl::descriptor_at(uint64_t slot) const {
  return base_ + geometry_.table_at + slot * sizeof(KvDescriptor);
}

KvDescriptor KvStoreImpl::load_descriptor(uint64_t slot) const {
  const std::byte* at = descriptor_at(slot);
  return {.place = load_word(at, std::memory_order_acquire),
          .proof = load_word(at + 8, std::memory_order_acquire)};
}

// kNoZone for an address outside all zones: a descriptor that was damaged.
uint64_t KvStoreImpl::zone_of(uint64_t address) const {
  if (address < geometry_.zones_at) return kNoZone;
  const uint64_t zone = (address - geometry_.zones_at) / geometry_.zone_bytes;
  return zone < geometry_.zones ? zone : kNoZone;
}

uint32_t KvStoreImpl::version_of(uint64_t zone) const {
  return static_cast<uint32_t>(zones_[zone].serving.load(std::memory_order_seq_cst)) &
         version_mask_;
}

// The cleaner sets kSwitching and then looks at the pins; a reader pins and then looks at
// `serving`: one of the two sees the other.
bool KvStoreImpl::pin(uint64_t zone, uint32_t version, bool* unsure) {
  Zone& z = zones_[zone];
  z.pins.fetch_add(1, std::memory_order_seq_cst);
  const uint64_t serving = z.serving.load(std::memory_order_seq_cst);
  if ((serving & kSwitching) == 0 && (static_cast<uint32_t>(serving) & version_mask_) == version) {
    return true;
  }
  unpin(zone);
  *unsure = (serving & kSwitching) != 0;
  return false;
}

uint32_t KvStoreImpl::item_checksum(uint64_t address, const KvItemView& item) const {
  return checksum_block({.file = nonce_, .offset = address}, item.checked());
}

bool KvStoreImpl::intact(uint64_t address, const KvDescriptor& descriptor,
                         const KvItemView& item) const {
  const uint32_t want = descriptor.checksum() ^ kv_version_mask(descriptor.version(), address);
  if (item_checksum(address, item) != want) return false;
  const auto expires_s = static_cast<uint32_t>(item.header.expiry);
  return item.header.expiry == kv_expiry_word(expires_s, item.header.cas, address, nonce_);
}

// False where no item can lie: what the header says would leave the zone.
bool KvStoreImpl::item_at(uint64_t zone, uint64_t offset, KvItemView* item) const {
  if (offset + kKvItemHeaderBytes > geometry_.zone_bytes) return false;
  *item = view_item(base_ + zone_at(zone) + offset);
  return item->header.key_bytes > 0 && item->size_bytes() <= geometry_.zone_bytes - offset;
}

// An item that was there at the opening is checked when it is first found: what a crash
// tore or never wrote is dropped. Nothing needs to be flushed for that: what is damaged
// stays damaged until its zone gets a new version.
bool KvStoreImpl::verify(const Found& found, bool locked) {
  if (!zones_[found.zone].unchecked.load(std::memory_order_relaxed)) return true;
  std::atomic_ref<uint64_t> bits(checked_[found.slot / 64]);
  const uint64_t bit = uint64_t{1} << (found.slot % 64);
  if ((bits.load(std::memory_order_relaxed) & bit) != 0) return true;
  if (intact(found.descriptor.address(), found.descriptor, found.item)) {
    bits.fetch_or(bit, std::memory_order_relaxed);
    return true;
  }
  if (locked) {
    store_word(descriptor_at(found.slot), 0, std::memory_order_release);
    add(KvCounter::kDamaged);
    count_live(found.zone, -1, 0);
  }
  return false;
}

KvStoreImpl::Seen KvStoreImpl::look(uint64_t slot, uint32_t tag, std::string_view key, bool locked,
                                    Found* found) {
  const std::byte* at = descriptor_at(slot);
  const uint64_t place = load_word(at, std::memory_order_acquire);
  if (place == 0 || place >> KvDescriptor::kPlaceBits != tag) return Seen::kMissing;
  found->slot = slot;
  found->descriptor = {.place = place, .proof = load_word(at + 8, std::memory_order_acquire)};
  if (load_word(at, std::memory_order_acquire) != place) return Seen::kUnsure;
  const uint64_t address = found->descriptor.address();
  found->zone = zone_of(address);
  if (found->zone == kNoZone) return Seen::kMissing;
  bool unsure = false;
  if (!pin(found->zone, found->descriptor.version(), &unsure)) {
    return unsure ? Seen::kUnsure : Seen::kMissing;
  }
  if (item_at(found->zone, address - zone_at(found->zone), &found->item) &&
      found->item.header.key_bytes == key.size() &&
      std::memcmp(found->item.key(), key.data(), key.size()) == 0) {
    if (verify(*found, locked)) return Seen::kFound;
    unpin(found->zone);
    if (locked) return Seen::kMissing;
    // Dropped under the lock, where it is counted once.
    MutexLock lock(stripes_[slot / kKvGroupSlots & stripe_mask_].mutex);
    if (load_descriptor(slot) != found->descriptor) return Seen::kUnsure;
    if (!pin(found->zone, found->descriptor.version(), &unsure)) return Seen::kUnsure;
    verify(*found, true);
    unpin(found->zone);
    return Seen::kMissing;
  }
  unpin(found->zone);
  return Seen::kMissing;
}

KvStoreImpl::Seen KvStoreImpl::scan(const Spot& spot, std::string_view key, bool locked,
                                    Found* found) {
  const uint32_t tag = kv_tag(spot.hash);
  bool unsure = false;
  for (uint64_t slot = spot.first_slot; slot < spot.first_slot + kKvBucketSlots; ++slot) {
    const Seen seen = look(slot, tag, key, locked, found);
    if (seen == Seen::kFound) return seen;
    unsure |= seen == Seen::kUnsure;
  }
  if (std::atomic_ref<uint8_t>(overflows_[spot.group]).load(std::memory_order_acquire) != 0) {
    const uint64_t first = (spot.group + 1) * kKvGroupSlots - kKvOverflowSlots;
    for (uint64_t slot = first; slot < first + kKvOverflowSlots; ++slot) {
      const Seen seen = look(slot, tag, key, locked, found);
      if (seen == Seen::kFound) return seen;
      unsure |= seen == Seen::kUnsure;
    }
  }
  return unsure ? Seen::kUnsure : Seen::kMissing;
}

bool KvStoreImpl::past(uint32_t expires_s) const {
  return expires_s != 0 && config_.now_s() >= expires_s;
}

KvStoreImpl::Current KvStoreImpl::current(const Spot& spot, std::string_view key) {
  Current now;
  if (spot.stripe.cached.load(std::memory_order_relaxed) > 0) {
    now.buffer = cache_.find(spot.hash, key);
    if (now.buffer) {
      const KvMeta meta = now.buffer->meta();
      now.seen = Seen::kFound;
      now.cas = meta.cas;
      now.expired = past(meta.expires_s);
      return now;
    }
  }
  now.seen = scan(spot, key, true, &now.found);
  if (now.seen == Seen::kFound) {
    now.cas = now.found.item.header.cas;
    now.expired = past(static_cast<uint32_t>(now.found.item.header.expiry));
    now.hold = Hold(this, now.found.zone);
  }
  return now;
}

// The cleaner needs stripes to finish: who meets a zone that is switching lets go and waits.
KvStoreImpl::Current KvStoreImpl::lock_current(const Spot& spot, std::string_view key) {
  spot.stripe.mutex.lock();
  for (;;) {
    Current now = current(spot, key);
    if (now.seen != Seen::kUnsure) return now;
    spot.stripe.mutex.unlock();
    std::this_thread::yield();
    spot.stripe.mutex.lock();
  }
}

KvItem KvStoreImpl::get(std::string_view key) {
  auto& counters = counters_.mine();
  counters.add(KvCounter::kGets, 1);
  const Spot spot = spot_of(key);
  for (uint32_t attempt = 0;; ++attempt) {
    const uint64_t sequence = spot.stripe.sequence.load(std::memory_order_acquire);
    if (spot.stripe.cached.load(std::memory_order_acquire) > 0) {
      if (KvBufferRef buffer = cache_.find(spot.hash, key)) {
        const KvMeta meta = buffer->meta();
        if (past(meta.expires_s)) {
          counters.add(KvCounter::kExpired, 1);
          return {};
        }
        counters.add(KvCounter::kHits, 1);
        counters.add(KvCounter::kWriteCacheHits, 1);
        const ByteView value = buffer->value();
        if (buffer->read_enough()) cache_.settle(buffer.share());
        return {this, reinterpret_cast<uintptr_t>(buffer.detach()) | kBufferHandle, value, meta};
      }
    }
    Found found;
    const Seen seen = scan(spot, key, false, &found);
    if (seen == Seen::kFound) {
      const KvItemHeader& header = found.item.header;
      const auto expires_s = static_cast<uint32_t>(header.expiry);
      const bool readable =
          !medium_.medium->traits().charges_direct_reads ||
          medium_.medium->on_direct_read({found.descriptor.address(), found.item.size_bytes()})
              .ok();
      if (!readable || past(expires_s)) {
        unpin(found.zone);
        counters.add(KvCounter::kExpired, readable ? 1 : 0);
        return {};
      }
      counters.add(KvCounter::kHits, 1);
      marks_->use(found.slot);
      if (config_.durability == Durability::kEachLru) persist(geometry_.marks_at + found.slot, 1);
      return {this, found.zone, found.item.value(),
              KvMeta{.flags = header.flags, .expires_s = expires_s, .cas = header.cas}};
    }
    if (seen == Seen::kMissing && (sequence & 1) == 0 &&
        spot.stripe.sequence.load(std::memory_order_acquire) == sequence) {
      return {};
    }
    if (attempt > 16) std::this_thread::yield();
  }
}

void KvStoreImpl::release(uint64_t handle) {
  if ((handle & kBufferHandle) != 0) {
    reinterpret_cast<KvBuffer*>(handle & ~kBufferHandle)->release();
  } else {
    unpin(handle);
  }
}

}  // namespace nvcache
