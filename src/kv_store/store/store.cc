#include "kv_store/store/store.h"

#include <new>
#include <thread>
#include <utility>

#include "base/test_hooks.h"

namespace nvcache {
namespace {

// The outcome of a put whose condition does not hold. `cas`: that of the key's value, or
// empty where it has none.
std::optional<KvOutcome> refusal_of(const KvCondition& condition, std::optional<uint64_t> cas) {
  switch (condition.kind) {
    case KvCondition::kAlways:
      return std::nullopt;
    case KvCondition::kIfAbsent:
      return cas ? std::optional(KvOutcome::kExists) : std::nullopt;
    case KvCondition::kIfPresent:
      return cas ? std::nullopt : std::optional(KvOutcome::kNotFound);
    case KvCondition::kIfCas:
      if (!cas) return KvOutcome::kNotFound;
      return *cas == condition.cas ? std::nullopt : std::optional(KvOutcome::kExists);
  }
  return KvOutcome::kNotFound;
}

}  // namespace

KvItem KvStoreImpl::get(std::string_view key) try {
  auto& counters = parts_.counters.mine();
  counters.add(KvCounter::kGets, 1);
  const Bucket bucket = bucket_of(key);
  for (uint32_t attempt = 0;; ++attempt) {
    const uint64_t before = bucket.stripe.sequence.now();
    if (bucket.stripe.cached_keys.load(std::memory_order_acquire) > 0) {
      if (KvBufferRef buffer = cache_.find(bucket.hash, key)) {
        const KvMeta meta = buffer->meta();
        if (parts_.config.is_past(meta.expires_s)) {
          counters.add(KvCounter::kExpired, 1);
          return {};
        }
        counters.add(KvCounter::kHits, 1);
        counters.add(KvCounter::kWriteCacheHits, 1);
        const ByteView value = buffer->value();
        if (buffer->count_read()) cache_.queue_move(buffer.share());
        return {Pin(this, reinterpret_cast<uintptr_t>(buffer.detach()) | kBufferHandle, value),
                meta};
      }
    }
    ItemLocation found;
    const Presence presence = index_.find(bucket, key, &found);
    if (presence == Presence::kPresent) {
      const KvItemHeader& header = found.item.header;
      const uint32_t expires_s = found.item.expires_s();
      const bool readable =
          parts_.memory.note_read(found.descriptor.address(), found.item.size_bytes());
      if (!readable || parts_.config.is_past(expires_s)) {
        parts_.zones.unpin(found.zone);
        counters.add(KvCounter::kExpired, readable ? 1 : 0);
        return {};
      }
      const bool outdated = is_outdated(header.cas);
      counters.add(KvCounter::kHits, 1);
      counters.add(KvCounter::kOutdated, outdated ? 1 : 0);
      index_.note_use(found.slot);
      return {Pin(this, found.zone, found.item.value()),
              KvMeta{.flags = header.flags, .expires_s = expires_s, .cas = header.cas}, outdated};
    }
    if (presence == Presence::kAbsent && bucket.stripe.sequence.is_still(before)) return {};
    if (attempt > 16) std::this_thread::yield();
  }
} catch (const std::bad_alloc&) {
  return {};
}

void KvStoreImpl::release(uint64_t handle) {
  if ((handle & kBufferHandle) != 0) {
    reinterpret_cast<KvBuffer*>(handle & ~kBufferHandle)->release();
  } else {
    parts_.zones.unpin(handle);
  }
}

// Fills one that is empty, and leaves it empty if a zone is being cleaned: Presence::kUnsure.
void KvStoreImpl::look_up(const Bucket& bucket, std::string_view key, CurrentValue* now) {
  if (bucket.stripe.cached_keys.load(std::memory_order_relaxed) > 0) {
    now->buffer = cache_.find(bucket.hash, key);
    if (now->buffer) {
      const KvMeta meta = now->buffer->meta();
      now->presence = Presence::kPresent;
      now->cas = meta.cas;
      now->expired = parts_.config.is_past(meta.expires_s);
      return;
    }
  }
  now->presence = index_.find_locked(bucket, key, &now->location);
  if (!*now) return;
  now->cas = now->location.item.header.cas;
  now->expired = parts_.config.is_past(now->location.item.expires_s());
  now->outdated = is_outdated(now->cas);
  now->pin = ZonePin(parts_.zones, now->location.zone);
}

// The cleaner needs stripes to finish. A caller that meets a zone being cleaned, or a stripe whose
// cleared descriptors are not durably so yet, releases the stripe and waits.
KvStoreImpl::LockedValue::LockedValue(KvStoreImpl& store, const Bucket& bucket,
                                      std::string_view key)
    : LockedValue(bucket.stripe.mutex) {
  for (;;) {
    if (!bucket.stripe.clearing.load(std::memory_order_acquire)) {
      store.look_up(bucket, key, this);
      if (presence != Presence::kUnsure) return;
    }
    mutex_.unlock();
    std::this_thread::yield();
    mutex_.lock();
  }
}

// Every change ends here: what was not made durable is not acknowledged.
KvResult KvStoreImpl::acknowledge(KvResult result) {
  if (!parts_.memory.failed()) return result;
  add(KvCounter::kRefused);
  return {.outcome = KvOutcome::kMediumFailed};
}

KvResult KvStoreImpl::put(std::string_view key, ByteView value, const KvMeta& meta,
                          KvCondition condition) {
  add(KvCounter::kPuts);
  if (parts_.memory.failed()) return acknowledge({});
  try {
    return acknowledge(try_put(key, value, meta, condition));
  } catch (const std::bad_alloc&) {  // nothing was changed
    add(KvCounter::kRefused);
    return {.outcome = KvOutcome::kNoSpace};
  }
}

bool KvStoreImpl::takes(std::string_view key, uint64_t value_bytes) const {
  return !key.empty() && key.size() <= kMaxKvKeyBytes && value_bytes <= kMaxKvValueBytes &&
         kv_item_bytes(key.size(), value_bytes) <= parts_.geometry.zone_bytes / 2;
}

KvResult KvStoreImpl::copy_in(std::string_view key, ByteView value, const KvMeta& meta) try {
  if (!takes(key, meta.bytes_of(value))) return {.outcome = KvOutcome::kTooLarge};
  return put_on_medium(bucket_of(key), key, value, meta, {});
} catch (const std::bad_alloc&) {
  return {.outcome = KvOutcome::kNoSpace};
}

KvResult KvStoreImpl::try_put(std::string_view key, ByteView value, const KvMeta& meta,
                              const KvCondition& condition) {
  const uint64_t value_bytes = meta.bytes_of(value);
  if (!takes(key, value_bytes)) {
    add(KvCounter::kRefused);
    return {.outcome = KvOutcome::kTooLarge};
  }
  const Bucket bucket = bucket_of(key);
  parts_.table.prefetch(bucket);
  if (condition.kind != KvCondition::kAlways) {
    // Checked before the item is written, and again before it is published.
    const LockedValue now(*this, bucket, key);
    const auto refusal = refusal_of(condition, now.cas_for(condition.kind));
    if (refusal) return {.outcome = *refusal};
  }
  if (meta.expires_s != 0) (void)parts_.config.now_s();  // it may be past: see KvTimeRecord
  KvMeta stored = meta;
  stored.cas = new_cas();
  if (cache_.enabled()) {
    KvBufferRef fallen;
    const bool often = cache_.note(bucket.hash, &fallen);
    make_room_in_cache(std::move(fallen));
    if (often && cache_.fits(kv_item_bytes(key.size(), value_bytes))) {
      if (const auto result = put_cached(bucket, key, value, stored, condition)) return *result;
    }
  }
  return put_on_medium(bucket, key, value, stored, condition);
}

uint64_t KvStoreImpl::new_cas() {
  return cas_numbers_.next([this](uint64_t up_to) {
    if (!recovery_.reserve_cas(up_to).ok()) parts_.memory.fail();  // acknowledge() tells
  });
}

// Empty if the write cache does not take the value.
std::optional<KvResult> KvStoreImpl::put_cached(const Bucket& bucket, std::string_view key,
                                                ByteView value, const KvMeta& meta,
                                                const KvCondition& condition) {
  const KvBufferRef buffer(KvBuffer::make(bucket.hash, key, value, meta));
  const LockedValue now(*this, bucket, key);
  if (const auto refusal = refusal_of(condition, now.cas_for(condition.kind))) {
    return KvResult{.outcome = *refusal};
  }
  if (now.buffer) {
    if (!cache_.replace(now.buffer.get(), buffer)) return std::nullopt;
    add(KvCounter::kUpdates);
    add(KvCounter::kWriteCacheHits);
  } else {
    if (!cache_.insert(buffer)) return std::nullopt;
    bucket.stripe.cached_keys.fetch_add(1, std::memory_order_release);
    add(now ? KvCounter::kUpdates : KvCounter::kInserts);
    // A crash loses the cached value: it must not bring the one on the medium back.
    // If that fails, acknowledge() says so.
    if (now) (void)index_.drop(bucket, now.location);
  }
  return KvResult{.outcome = KvOutcome::kDone, .cas = meta.cas};
}

KvResult KvStoreImpl::put_on_medium(const Bucket& bucket, std::string_view key, ByteView value,
                                    const KvMeta& meta, const KvCondition& condition) {
  const std::optional<WrittenItem> item = write_item(bucket, key, value, meta);
  if (!item) {
    add(KvCounter::kRefused);
    return {.outcome = KvOutcome::kNoSpace};
  }
  for (;;) {
    bool published = false;
    {
      const LockedValue now(*this, bucket, key);
      if (const auto refusal = refusal_of(condition, now.cas_for(condition.kind))) {
        return {.outcome = *refusal};
      }
      published = publish(bucket, *item, now);
    }
    if (published) call(test_hooks.on_put_step);
    if (published || parts_.memory.failed()) return {.outcome = KvOutcome::kDone, .cas = meta.cas};
    std::this_thread::yield();
  }
}

// Empty if no zone has room, or the medium failed.
std::optional<KvStoreImpl::WrittenItem> KvStoreImpl::write_item(const Bucket& bucket,
                                                                std::string_view key,
                                                                ByteView value,
                                                                const KvMeta& meta) {
  const uint64_t item_bytes = kv_item_bytes(key.size(), meta.bytes_of(value));
  if (parts_.memory.failed()) return std::nullopt;
  const std::optional<ZoneLog::Room> room = parts_.zones.allocate(item_bytes, cleaner_);
  if (!room) return std::nullopt;
  call(test_hooks.on_put_step);
  index_.prefetch(bucket);
  WrittenItem item{.pin = ZonePin(parts_.zones, room->zone),
                   .zone = room->zone,
                   .address = room->address,
                   .item_bytes = item_bytes,
                   .descriptor = parts_.items.write(room->address, key, value, meta,
                                                    kv_tag(bucket.hash), room->version)};
  if (meta.expires_s != 0) parts_.zones.note_expiry(room->zone, meta.expires_s);
  add(KvCounter::kWrittenBytes, item_bytes);
  if (!parts_.memory.flushes_all()) {
    parts_.memory.note_write(room->address, item_bytes);
  } else if (!parts_.memory.persist(room->address, item_bytes)) {
    return std::nullopt;
  }
  return item;
}

// False: nothing was changed, try again.
bool KvStoreImpl::publish(const Bucket& bucket, const WrittenItem& item, const CurrentValue& now) {
  if (!index_.publish(bucket, item.zone, item.descriptor, item.item_bytes, now.on_medium())) {
    return false;
  }
  add(now ? KvCounter::kUpdates : KvCounter::kInserts);
  if (now.buffer) uncache(bucket, now.buffer);
  return true;
}

KvResult KvStoreImpl::erase(std::string_view key, uint64_t cas) {
  add(KvCounter::kErases);
  const Bucket bucket = bucket_of(key);
  return acknowledge({.outcome = erase_current(bucket, key, cas)});
}

KvOutcome KvStoreImpl::erase_current(const Bucket& bucket, std::string_view key, uint64_t cas) {
  const LockedValue now(*this, bucket, key);
  if (!now) return KvOutcome::kNotFound;
  if (cas != 0 && !now.expired && now.cas != cas) return KvOutcome::kExists;
  if (now.buffer) {
    remove_cached(bucket, now.buffer);
  } else {
    (void)index_.drop(bucket, now.location);  // acknowledge() says if it failed
  }
  return now.expired || (now.outdated && cas == 0) ? KvOutcome::kNotFound : KvOutcome::kDone;
}

KvOutcome KvStoreImpl::touch(std::string_view key, uint32_t expires_s) {
  if (expires_s != 0) (void)parts_.config.now_s();
  return acknowledge({.outcome = touch_current(bucket_of(key), key, expires_s)}).outcome;
}

KvOutcome KvStoreImpl::touch_current(const Bucket& bucket, std::string_view key,
                                     uint32_t expires_s) {
  const LockedValue now(*this, bucket, key);
  if (!now || now.expired || now.outdated) return KvOutcome::kNotFound;
  if (now.buffer) {
    now.buffer->set_expires_s(expires_s);
  } else {
    const uint64_t address = now.location.descriptor.address();
    const uint32_t before_s = now.location.item.expires_s();
    parts_.items.set_expiry(address, expires_s, now.cas);
    if (expires_s != 0) parts_.zones.note_expiry(now.location.zone, expires_s);
    // A crash may undo a longer life, which costs a miss, but not a shorter one.
    const bool shorter = expires_s != 0 && (before_s == 0 || expires_s < before_s);
    const bool flushes =
        (shorter && parts_.memory.flushes_updates() && !test_hooks.skip_touch_flush) ||
        parts_.memory.flushes_all();
    if (flushes) (void)parts_.memory.persist(address, kKvExpiryBytes);  // acknowledge() tells
  }
  return KvOutcome::kDone;
}

Status KvStoreImpl::clear() try {
  const uint64_t bound = cas_numbers_.given();
  for (const KvBufferRef& buffer : cache_.all()) {
    if (buffer->meta().cas > bound) continue;
    const Bucket bucket = parts_.table.bucket_of(buffer->hash());
    MutexLock lock(bucket.stripe.mutex);
    remove_cached(bucket, buffer);
  }
  return cleaner_.renew_all();
} catch (const std::bad_alloc&) {
  return resource_exhausted_error("no memory to clear the store");
}

}  // namespace nvcache
