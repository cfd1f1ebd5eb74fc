// How values leave the write cache of a store: for the medium, or for good.
#include <thread>

#include "kv_store/store.h"

namespace nvcache {

// Takes a value out of the write cache; false if it is not there.
bool KvStoreImpl::uncache(const Bucket& bucket, const KvBufferRef& buffer) {
  if (!cache_.take(buffer.get())) return false;
  bucket.stripe.cached_keys.fetch_sub(1, std::memory_order_release);
  return true;
}

// The same where nothing replaces the value: concurrent lookups must look again.
void KvStoreImpl::remove_cached(const Bucket& bucket, const KvBufferRef& buffer) {
  bucket.stripe.sequence.fetch_add(1, std::memory_order_acq_rel);
  uncache(bucket, buffer);
  bucket.stripe.sequence.fetch_add(1, std::memory_order_release);
}

// Each put adds at most one value and moves up to two, so that they do not pile up.
void KvStoreImpl::make_room_in_cache(KvBufferRef fallen) {
  if (fallen) spill(fallen);
  for (int i = 0; i < 2; ++i) {
    if (const KvBufferRef buffer = cache_.next_move()) spill(buffer);
  }
}

// Moves a value from the write cache to the medium. That is an insertion: no older copy is
// valid there, so nothing is flushed.
void KvStoreImpl::spill(const KvBufferRef& buffer) {
  const Bucket bucket = parts_.table.bucket_of(buffer->hash());
  const KvMeta meta = buffer->meta();
  const auto item = write_item(bucket, buffer->key(), buffer->value(), meta);
  for (bool done = false; !done;) {
    CurrentValue now = lock_current(bucket, buffer->key());
    done = true;
    if (now.buffer.get() == buffer.get()) {
      if (item) {
        // touch() may have changed it until the stripe was locked.
        const uint32_t expires_s = buffer->meta().expires_s;
        if (expires_s != meta.expires_s) {
          parts_.items.set_expiry(item->address, expires_s, meta.cas);
        }
        done = publish(bucket, *item, now);
      } else {
        remove_cached(bucket, buffer);
        add(KvCounter::kEvicted);
      }
    }
    bucket.stripe.mutex.unlock();
    if (!done) std::this_thread::yield();
  }
}

}  // namespace nvcache
