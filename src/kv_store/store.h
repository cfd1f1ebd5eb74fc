// The key-value store of nvcache/kv_store.h. docs/FORMAT.md describes what lies on the
// medium, which order of writes keeps it right, and why.
//
// Locks, in the order in which they are taken: the space lock (zones change hands, one is
// cleaned), a stripe of the table (its descriptors are written), a part of the write
// cache. Lookups take none of the first two: they read descriptors as pairs of words,
// pin the zone, and check that it still serves the descriptor's version; a miss is
// believed when the stripe was not written meanwhile. Items are copied under no lock
// except by the cleaner, which holds the space lock that only allocation waits for.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/reserved_array.h"
#include "base/striped_counters.h"
#include "kv_store/config.h"
#include "kv_store/layout.h"
#include "kv_store/marks.h"
#include "kv_store/media.h"
#include "kv_store/superblock.h"
#include "kv_store/write_cache.h"
#include "nvcache/kv_store.h"

namespace nvcache {

enum class KvCounter : uint8_t {
  kGets,
  kHits,
  kExpired,
  kPuts,
  kInserts,
  kUpdates,
  kErases,
  kRefused,
  kEvicted,
  kRelocated,
  kRelocatedBytes,
  kZonesCleaned,
  kHotSetsKept,
  kWriteCacheHits,
  kFlushes,
  kFlushedBytes,
  kFlushedLines,
  kDrains,
  kWrittenBytes,
  kDamaged,
  kFieldCount,
};

class KvStoreImpl final : public KvStore, private KvItem::Owner {
 public:
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<KvStoreImpl>> make(KvConfig config,
                                                                         KvMedium medium);
  ~KvStoreImpl() override;

  KvItem get(std::string_view key) override;
  KvResult put(std::string_view key, ByteView value, const KvMeta& meta,
               KvCondition condition) override;
  KvResult erase(std::string_view key, uint64_t cas) override;
  KvOutcome touch(std::string_view key, uint32_t expires_s) override;
  void clear() override;
  [[nodiscard]] absl::Status sync() override;
  KvStats stats() const override;

  const KvGeometry& geometry() const { return geometry_; }

 private:
  static constexpr uint64_t kNoZone = ~uint64_t{0};
  static constexpr uint64_t kSwitching = uint64_t{1} << 63;
  static constexpr uint64_t kBufferHandle = uint64_t{1} << 63;

  // In DRAM, a line for each zone.
  struct alignas(64) Zone {
    std::atomic<uint32_t> pins{0};       // readers of its items, and writers of new ones
    std::atomic<bool> unchecked{false};  // its items were there at the opening
    std::atomic<uint64_t> serving{0};    // version, and kSwitching while it is being cleaned
    std::atomic<uint64_t> cursor{0};     // where the next item goes
    uint64_t hot_line = 0;               // under the space lock
  };
  struct alignas(64) Stripe {
    Mutex mutex;
    std::atomic<uint64_t> sequence{0};  // odd while descriptors are being written
    std::atomic<uint32_t> cached{0};    // keys whose value is in the write cache
  };
  struct alignas(64) Lane {
    std::atomic<uint64_t> zone{kNoZone};
  };

  // A key's place in the table.
  struct Spot {
    uint64_t hash;
    uint64_t group;
    uint64_t first_slot;  // of its bucket
    Stripe& stripe;
  };
  enum class Seen { kFound, kMissing, kUnsure };
  // An item on the medium; its zone is pinned.
  struct Found {
    uint64_t slot = 0;
    uint64_t zone = kNoZone;
    KvDescriptor descriptor;
    KvItemView item;
  };
  // A pin that ends with its scope.
  class Hold {
   public:
    Hold() = default;
    Hold(KvStoreImpl* store, uint64_t zone) : store_(store), zone_(zone) {}
    Hold(Hold&& other) noexcept
        : store_(std::exchange(other.store_, nullptr)), zone_(other.zone_) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(store_, other.store_);
      std::swap(zone_, other.zone_);
      return *this;
    }
    ~Hold() {
      if (store_ != nullptr) store_->unpin(zone_);
    }

   private:
    KvStoreImpl* store_ = nullptr;
    uint64_t zone_ = 0;
  };
  // What a key has now, seen under its stripe's lock.
  struct Current {
    Seen seen = Seen::kMissing;
    bool expired = false;
    KvBufferRef buffer;  // in the write cache; else
    Found found;         // on the medium
    Hold hold;
    uint64_t cas = 0;
    explicit operator bool() const { return seen == Seen::kFound; }
  };
  // Room for an item; the zone is pinned.
  struct Placed {
    uint64_t zone = kNoZone;
    uint64_t address = 0;
    uint32_t version = 0;
    KvDescriptor descriptor;
  };
  // An item of a zone that is walked.
  static constexpr size_t kAhead = 16;
  struct Ahead {
    KvItemView item;
    uint64_t offset = 0;
    uint64_t hash = 0;
  };
  struct Survivor {
    uint64_t slot;
    uint64_t hash;
    KvDescriptor descriptor;
    uint64_t offset;
    uint64_t size_bytes;
    uint32_t age;
  };
  struct Plan {
    bool keeps_hot_set = false;
    uint64_t hot_line = 0;  // where what stays in place ends
    std::vector<Survivor> kept;
    std::vector<Survivor> relocated;
  };

  KvStoreImpl(KvConfig config, KvMedium medium);
  [[nodiscard]] absl::Status open();
  [[nodiscard]] absl::Status recover_zones();
  void prepare_memory(bool recovered);

  // store_find.cc: descriptors and items.
  Spot spot_of(std::string_view key);
  Spot spot_of_hash(uint64_t hash);
  // Begin to fetch what the next steps of a put wait for: each is a cache miss or two.
  void prefetch_bucket(const Spot& spot) const;
  void prefetch_item(const Spot& spot) const;
  std::byte* descriptor_at(uint64_t slot) const;
  KvDescriptor load_descriptor(uint64_t slot) const;
  uint64_t zone_of(uint64_t address) const;
  uint32_t version_of(uint64_t zone) const;
  bool pin(uint64_t zone, uint32_t version, bool* unsure);
  void unpin(uint64_t zone) { zones_[zone].pins.fetch_sub(1, std::memory_order_release); }
  Seen look(uint64_t slot, uint32_t tag, std::string_view key, bool locked, Found* found);
  Seen scan(const Spot& spot, std::string_view key, bool locked, Found* found);
  bool verify(const Found& found, bool locked);
  bool intact(uint64_t address, const KvDescriptor& descriptor, const KvItemView& item) const;
  uint32_t item_checksum(uint64_t address, const KvItemView& item) const;
  bool item_at(uint64_t zone, uint64_t offset, KvItemView* item) const;
  bool past(uint32_t expires_s) const;
  Current current(const Spot& spot, std::string_view key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(spot.stripe.mutex);
  Current lock_current(const Spot& spot, std::string_view key)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(spot.stripe.mutex);
  void release(uint64_t handle) override;

  // store.cc
  std::optional<KvOutcome> refused(const KvCondition& condition, const Current& now) const;
  std::optional<KvResult> put_cached(const Spot& spot, std::string_view key, ByteView value,
                                     const KvMeta& meta, const KvCondition& condition);
  KvResult put_on_medium(const Spot& spot, std::string_view key, ByteView value, const KvMeta& meta,
                         const KvCondition& condition);
  void write_item(std::string_view key, ByteView value, const KvMeta& meta, uint32_t tag,
                  Placed* placed);
  bool publish(const Spot& spot, const Placed& placed, uint64_t item_bytes, const Current& now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(spot.stripe.mutex);
  bool choose_slot(const Spot& spot, uint64_t* slot, bool* evicts)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(spot.stripe.mutex);
  void write_descriptor(Stripe& stripe, uint64_t slot, const KvDescriptor& descriptor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(stripe.mutex);
  bool persist_descriptor(uint64_t slot);
  bool drop(const Spot& spot, const Current& now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(spot.stripe.mutex);
  void spill(const KvBufferRef& buffer);
  void spill_all();
  bool persist(uint64_t offset, uint64_t size_bytes);
  void stored(uint64_t offset, uint64_t size_bytes);
  bool flushes_updates() const { return config_.durability != Durability::kVolatile; }
  bool flushes_all() const {
    return config_.durability == Durability::kEach || config_.durability == Durability::kEachLru;
  }
  void count_live(uint64_t zone, int64_t items, int64_t item_bytes);

  // store_clean.cc: zones.
  bool allocate(uint64_t item_bytes, Placed* placed);
  uint64_t open_zone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(space_mutex_);
  bool clean(uint64_t zone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(space_mutex_);
  Plan survey(uint64_t zone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(space_mutex_);
  void choose(std::vector<Survivor> hot, uint64_t room_bytes, Plan* plan);
  size_t read_ahead(uint64_t zone, uint64_t* offset, std::array<Ahead, kAhead>* items)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(space_mutex_);
  bool find_slot(uint64_t address, uint64_t hash, uint64_t zone, Survivor* survivor);
  void revive(uint64_t zone, uint64_t version, const Plan& plan)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(space_mutex_);
  bool rewrite(const Survivor& survivor, const KvDescriptor& descriptor);
  uint64_t next_version(uint64_t zone, uint64_t version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(space_mutex_);
  void sweep(const std::vector<bool>& zones);
  void write_zone_header(uint64_t zone, uint64_t version, uint64_t hot_line, uint64_t sequence);
  bool renew_all() ABSL_EXCLUSIVE_LOCKS_REQUIRED(space_mutex_);
  std::byte* header_at(uint64_t zone) const {
    return base_ + geometry_.headers_at + zone * kKvLineBytes;
  }
  uint64_t zone_at(uint64_t zone) const { return geometry_.zones_at + zone * geometry_.zone_bytes; }

  void add(KvCounter counter, uint64_t amount = 1) { counters_.add(counter, amount); }
  std::pair<uint64_t, uint64_t> live() const;

  const KvConfig config_;
  KvMedium medium_;
  std::byte* const base_;
  const bool emulated_;
  KvGeometry geometry_;
  uint64_t nonce_ = 0;
  uint32_t version_mask_ = 0;
  KvState state_;
  bool recovered_ = false;
  uint64_t recovered_items_ = 0;
  double recovery_seconds_ = 0;

  std::unique_ptr<Zone[]> zones_;
  std::unique_ptr<Stripe[]> stripes_;
  uint64_t stripe_mask_ = 0;
  std::vector<Lane> lanes_;
  ReservedArray<uint8_t> mark_bytes_;
  std::unique_ptr<KvMarks> marks_;
  ReservedArray<uint64_t> checked_;   // a bit a slot: its item was verified since the opening
  ReservedArray<uint8_t> overflows_;  // a byte a group: its overflow descriptors may be in use
  KvWriteCache cache_;
  std::atomic<uint64_t> next_cas_{0};
  std::atomic<bool> failed_{false};  // the medium: nothing is acknowledged any more

  Mutex space_mutex_;
  std::deque<uint64_t> fresh_ ABSL_GUARDED_BY(space_mutex_);
  std::deque<uint64_t> full_ ABSL_GUARDED_BY(space_mutex_);  // oldest first
  uint64_t sequence_ ABSL_GUARDED_BY(space_mutex_) = 0;
  std::vector<std::byte> scratch_ ABSL_GUARDED_BY(space_mutex_);

  StripedCounters<KvCounter> counters_;
};

}  // namespace nvcache
