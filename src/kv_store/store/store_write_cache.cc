// How values leave the write cache of a store: for the medium, or for good.
#include <new>
#include <thread>

#include "base/assert.h"
#include "kv_store/format/time_record.h"
#include "kv_store/store/store.h"

namespace nvcache {

// Takes a value out of the write cache; false if it is not there.
bool KvStoreImpl::uncache(const Bucket& bucket, const KvBufferRef& buffer) {
  if (!cache_.take(buffer.get())) return false;
  [[maybe_unused]] const uint32_t before =
      bucket.stripe.cached_keys.fetch_sub(1, std::memory_order_release);
  NVCACHE_ASSERT_SLOW(before > 0);
  return true;
}

// The same where nothing replaces the value: concurrent lookups must look again.
void KvStoreImpl::remove_cached(const Bucket& bucket, const KvBufferRef& buffer) {
  const Sequence::Change change(bucket.stripe.sequence);
  uncache(bucket, buffer);
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
    {
      const LockedValue now(*this, bucket, buffer->key());
      if (now.buffer.get() != buffer.get()) return;
      done = !item || publish_cached(bucket, *item, now, meta);
      if (!item) {
        remove_cached(bucket, buffer);
        add(KvCounter::kEvicted);
      }
    }
    if (!done) std::this_thread::yield();
  }
}

// False: nothing was published, try again. `written` is what the item was written with.
bool KvStoreImpl::publish_cached(const Bucket& bucket, const WrittenItem& item,
                                 const CurrentValue& now, const KvMeta& written) {
  // touch() may have changed it until the stripe was locked.
  const uint32_t expires_s = now.buffer->meta().expires_s;
  if (expires_s != written.expires_s) {
    parts_.items.set_expiry(item.address, expires_s, written.cas);
    if (expires_s != 0) parts_.zones.note_expiry(item.zone, expires_s);
  }
  return publish(bucket, item, now);
}

// A kill loses what is in the write cache: so nothing stays there longer than from one round to the
// next, though nobody writes it again.
void KvStoreImpl::sync_in_background() {
  spill_all();
  (void)parts_.config.now_s();
  const Status status = parts_.medium.has_pages ? parts_.medium.sync()
                                                : parts_.medium.sync({kKvTimeAt, sizeof(uint64_t)});
  if (!status.ok()) parts_.memory.fail();
  add(KvCounter::kSyncs);
}

void KvStoreImpl::spill_all() {
  for (const KvBufferRef& buffer : cache_.all()) spill(buffer);
}

// The kernel tells once of pages that it could not write, and drops them: an older value may be on
// the medium in the place of an acknowledged one.
Status KvStoreImpl::sync() try {
  spill_all();
  (void)parts_.config.now_s();
  Status status = parts_.medium.sync();
  if (!status.ok()) parts_.memory.fail();
  if (status.ok() && parts_.memory.failed()) {
    status = data_loss_error("the medium failed earlier; acknowledged items may be lost");
  }
  return status;
} catch (const std::bad_alloc&) {
  return resource_exhausted_error("no memory to write out what is in DRAM");
}

}  // namespace nvcache
