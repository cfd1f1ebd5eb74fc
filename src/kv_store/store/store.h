// The key-value store of nvcache/kv_store.h: its operations, over the parts that do the
// work. docs/design/format.md describes what lies on the medium, which order of writes keeps it
// right, and why.
//
//   KvParts          the medium and the classes that manage it
//     DescriptorTable  descriptors, through which items are found
//     ZoneLog          zones, which items are appended to
//   ItemIndex        finds the item of a key on the medium
//   Cleaner          makes room in zones, and keeps used items
//   Recovery         opens and closes
//   KvWriteCache     holds values that are written often, in DRAM
//
// Locks, in the order in which they are taken: the cleaning lock (a zone is cleaned), the space
// lock (zones change hands), a stripe of the table (its descriptors are written), a part of the
// write cache. Lookups take none of the first three: they read descriptors as pairs of words,
// pin the zone, and check that it still serves the descriptor's version; a miss is
// believed when the stripe was not written as they read. Items are copied under no lock
// except by the cleaner, which holds the cleaning lock. A thread of its own cleans zones ahead, so
// that puts seldom wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/background_thread.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "kv_store/api/config.h"
#include "kv_store/log/cleaner.h"
#include "kv_store/log/parts.h"
#include "kv_store/medium/media.h"
#include "kv_store/recovery/recovery.h"
#include "kv_store/store/cas_numbers.h"
#include "kv_store/store/item_index.h"
#include "kv_store/write_cache/write_cache.h"
#include "nvcache/kv_store.h"
#include "nvcache/status_or.h"

namespace nvcache {

class KvStoreImpl final : public KvStore, private Pin::Owner {
 public:
  [[nodiscard]] static StatusOr<std::unique_ptr<KvStoreImpl>> make(KvConfig config,
                                                                   KvMedium medium);
  ~KvStoreImpl() override;

  KvItem get(std::string_view key) override;
  KvResult put(std::string_view key, ByteView value, const KvMeta& meta,
               KvCondition condition) override;
  KvResult erase(std::string_view key, uint64_t cas) override;
  KvOutcome touch(std::string_view key, uint32_t expires_s) override;
  [[nodiscard]] Status clear() override;
  [[nodiscard]] Status sync() override;
  uint64_t visit(uint64_t cursor, const KvVisitor& visitor) override;
  KvStats stats() const override;

  const KvGeometry& geometry() const { return parts_.geometry; }
  bool has_unfinished_cleaning() const { return recovery_.has_unfinished_cleaning(); }

  // Zones that may hold items, those that were opened first at the front.
  std::vector<uint64_t> zones_by_age() const;
  // Calls visit(key, value, meta) for the items of a zone that a lookup would find there. For a
  // store that does not change as it counts.
  void visit_zone(uint64_t zone,
                  const std::function<void(std::string_view, ByteView, const KvMeta&)>& visit);

  // put() of a value from another store, with the number that it has there.
  KvResult copy_in(std::string_view key, ByteView value, const KvMeta& meta);

  // Makes all items durable and marks the store as closed in order. Nothing may follow but the
  // destructor, which otherwise does the same.
  [[nodiscard]] Status close();

 private:
  using Bucket = DescriptorTable::Bucket;
  using Presence = ItemIndex::Presence;
  static constexpr uint64_t kBufferHandle = uint64_t{1} << 63;

  // The value of a key now, seen under its stripe's lock.
  struct CurrentValue {
    Presence presence = Presence::kAbsent;
    bool expired = false;
    bool outdated = false;
    uint64_t cas = 0;
    KvBufferRef buffer;     // in the write cache; else
    ItemLocation location;  // on the medium,
    ZonePin pin;            // where the pin keeps it
    explicit operator bool() const { return presence == Presence::kPresent; }
    // The cas that a condition of this kind sees; empty where it must see no value. A comparison
    // sees an outdated one: a client that got it as such may replace it.
    std::optional<uint64_t> cas_for(KvCondition::Kind kind) const {
      if (!*this || expired || (outdated && kind != KvCondition::kIfCas)) return std::nullopt;
      return cas;
    }
    const ItemLocation* on_medium() const { return *this && !buffer ? &location : nullptr; }
  };
  // The same, and the key's stripe is locked while it lives: the value stays the current one.
  class NVCACHE_SCOPED_LOCK LockedValue : public CurrentValue {
   public:
    LockedValue(KvStoreImpl& store, const Bucket& bucket, std::string_view key)
        NVCACHE_ACQUIRE(bucket.stripe.mutex);
    ~LockedValue() NVCACHE_RELEASE() { mutex_.unlock(); }
    LockedValue(const LockedValue&) = delete;
    LockedValue& operator=(const LockedValue&) = delete;

   private:
    explicit LockedValue(Mutex& mutex) NVCACHE_ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }

    Mutex& mutex_;
  };
  // An item that was written and that no descriptor leads to yet.
  struct WrittenItem {
    ZonePin pin;
    uint64_t zone = ZoneLog::kNoZone;
    uint64_t address = 0;
    uint64_t item_bytes = 0;
    KvDescriptor descriptor;
  };

  KvStoreImpl(KvConfig config, KvMedium medium, const KvFoundStore& found);

  Bucket bucket_of(std::string_view key) const { return parts_.table.bucket_of(hash_bytes(key)); }
  void look_up(const Bucket& bucket, std::string_view key, CurrentValue* now)
      NVCACHE_REQUIRES(bucket.stripe.mutex);
  void release(uint64_t handle) override;

  KvResult acknowledge(KvResult result);
  bool takes(std::string_view key, uint64_t value_bytes) const;
  KvResult try_put(std::string_view key, ByteView value, const KvMeta& meta,
                   const KvCondition& condition);
  std::optional<KvResult> put_cached(const Bucket& bucket, std::string_view key, ByteView value,
                                     const KvMeta& meta, const KvCondition& condition);
  KvResult put_on_medium(const Bucket& bucket, std::string_view key, ByteView value,
                         const KvMeta& meta, const KvCondition& condition);
  KvOutcome erase_current(const Bucket& bucket, std::string_view key, uint64_t cas);
  KvOutcome touch_current(const Bucket& bucket, std::string_view key, uint32_t expires_s);
  std::optional<WrittenItem> write_item(const Bucket& bucket, std::string_view key, ByteView value,
                                        const KvMeta& meta);
  bool publish(const Bucket& bucket, const WrittenItem& item, const CurrentValue& now)
      NVCACHE_REQUIRES(bucket.stripe.mutex);
  bool publish_cached(const Bucket& bucket, const WrittenItem& item, const CurrentValue& now,
                      const KvMeta& written) NVCACHE_REQUIRES(bucket.stripe.mutex);
  bool uncache(const Bucket& bucket, const KvBufferRef& buffer)
      NVCACHE_REQUIRES(bucket.stripe.mutex);
  void remove_cached(const Bucket& bucket, const KvBufferRef& buffer)
      NVCACHE_REQUIRES(bucket.stripe.mutex);
  void make_room_in_cache(KvBufferRef fallen);
  void spill(const KvBufferRef& buffer);

  Status start_threads();
  uint64_t new_cas();
  void sync_in_background();
  void spill_all();

  // Numbers that this store did not give are of a former format, and older.
  bool is_outdated(uint64_t cas) const {
    return outdated_cas_ != 0 && (cas <= outdated_cas_ || cas > cas_numbers_.given());
  }
  void add(KvCounter counter, uint64_t amount = 1) { parts_.counters.add(counter, amount); }

  KvParts parts_;
  ItemIndex index_;
  Cleaner cleaner_;
  Recovery recovery_;
  KvWriteCache cache_;
  BackgroundThread cleaning_;
  BackgroundThread syncer_;  // keeps little for a shutdown to write
  CasNumbers cas_numbers_;
  uint64_t outdated_cas_ = 0;  // values up to this number are outdated
  uint32_t away_s_ = 0;
  double recovery_seconds_ = 0;
};

}  // namespace nvcache
