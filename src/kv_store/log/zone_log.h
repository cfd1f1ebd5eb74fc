// The log of zones that items are appended to (NVMcached, section 3.3): room for new items,
// and pins that keep a zone's items in place while they are read.
//
// Each zone serves one version; a descriptor of another version is void. While the cleaner
// switches a zone to its next version, no reader can pin it. The cleaner does not wait for
// pins: it leaves a pinned zone for later.
//
// Threads append through lanes, each with its own open zone. Allocation takes no lock until
// the lane's zone is full. Then it takes the space lock for a moment, and opens a zone that was
// cleaned ahead. If there is none it cleans one, under the cleaning lock: only threads that need a
// zone, too, wait for that. Pins take no lock.
//
// Thread-safe. Cost in DRAM: a line for each zone. Zones that were cleaned ahead hold no new items
// yet: none in a store of less than 32 zones, two from 64 on.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "kv_store/format/durable_memory.h"
#include "kv_store/format/layout.h"
#include "kv_store/format/superblock.h"

namespace nvcache {

// Makes zones ready for new items. Called under the cleaning lock.
class ZoneCleaner {
 public:
  virtual ~ZoneCleaner() = default;
  // The index of the zone to clean next, of the full ones, oldest first; there is at least one.
  // Called under the space lock as well.
  virtual size_t choose(const std::deque<uint64_t>& full) = 0;
  // Leaves room for an item of this size. False if the zone is pinned, or the medium failed.
  virtual bool clean(uint64_t zone, uint64_t item_bytes) = 0;
  // The time now, in seconds, if zones should be swept before one is chosen; else 0.
  virtual uint32_t sweep_time_s() const { return 0; }
  // Lets items of a full zone go that have expired. Returns when the next one will, as
  // ZoneLog::note_expiry().
  virtual uint32_t sweep(uint64_t /*zone*/) { return UINT32_MAX; }
  // Gets memory for what will be written to a cleaned zone from `offset` on. A hint.
  virtual void populate(uint64_t zone, uint64_t offset) = 0;
};

class ZoneLog {
 public:
  static constexpr uint64_t kNoZone = KvGeometry::kNoZone;
  static constexpr uint64_t kMostAhead = 2;
  static constexpr uint64_t kZonesForAhead = 32;  // for each zone that is kept ready

  // Whether a zone serves a descriptor's version.
  enum class Validity : uint8_t { kValid, kVoid, kBeingCleaned };
  // Room for an item. The zone is pinned.
  struct Room {
    uint64_t zone = kNoZone;
    uint64_t address = 0;
    uint32_t version = 0;
  };

  ZoneLog(DurableMemory& memory, const KvGeometry& geometry);

  Validity validity(uint64_t zone, uint32_t version) const {
    return validity_of(zones_[zone].serving.load(std::memory_order_seq_cst), version);
  }
  // Pins the zone if the version is valid. The cleaner sets kSwitching and then looks at
  // the pins; a reader pins and then looks at `serving`: one of the two sees the other.
  Validity pin(uint64_t zone, uint32_t version) {
    Zone& z = zones_[zone];
    z.pins.fetch_add(1, std::memory_order_seq_cst);
    const Validity seen = validity_of(z.serving.load(std::memory_order_seq_cst), version);
    if (seen != Validity::kValid) unpin(zone);
    return seen;
  }
  void unpin(uint64_t zone) {
    [[maybe_unused]] const uint32_t before =
        zones_[zone].pins.fetch_sub(1, std::memory_order_release);
    NVCACHE_ASSERT_SLOW(before > 0);
  }
  // Of a full zone. A writer pins and then looks at its lane, which left the zone before: false
  // says that no item is being written to it, and none will be.
  bool is_pinned(uint64_t zone) const {
    return zones_[zone].pins.load(std::memory_order_seq_cst) != 0;
  }

  // Empty if every zone is in use, or the medium failed.
  std::optional<Room> allocate(uint64_t item_bytes, ZoneCleaner& cleaner);

  // From now on calls `wake` when another zone should be cleaned ahead, under no lock. Call before
  // other threads do.
  void keep_ahead(std::function<void()> wake) { wake_ = std::move(wake); }
  uint64_t most_ahead() const { return std::min(kMostAhead, geometry_.zones / kZonesForAhead); }
  // Cleans one zone ahead, if too few are ready. True if there is more to do.
  bool clean_ahead(ZoneCleaner& cleaner);

  // The bits of a zone's version that descriptors hold.
  uint32_t version_of(uint64_t zone) const {
    return low_bits(zones_[zone].serving.load(std::memory_order_seq_cst));
  }
  uint32_t low_bits(uint64_t version) const { return static_cast<uint32_t>(version) & low_mask_; }

  // True until the zone is cleaned: its items were there at the opening.
  // An item of the zone expires then.
  void note_expiry(uint64_t zone, uint32_t expires_s) {
    std::atomic<uint32_t>& earliest_s = zones_[zone].earliest_s;
    uint32_t before_s = earliest_s.load(std::memory_order_relaxed);
    while (expires_s < before_s && !earliest_s.compare_exchange_weak(before_s, expires_s)) {
    }
  }
  bool is_unchecked(uint64_t zone) const {
    return zones_[zone].unchecked.load(std::memory_order_relaxed);
  }

  // False if no item lies there: its header would reach beyond the zone.
  bool item_at(uint64_t zone, uint64_t offset, KvItemView* item) const {
    if (offset + kKvItemHeaderBytes > geometry_.zone_bytes) return false;
    *item = view_item(memory_.at(geometry_.zone_at(zone) + offset));
    return item->header.key_bytes > 0 && item->size_bytes() <= geometry_.zone_bytes - offset;
  }
  void prefetch(uint64_t zone) const { __builtin_prefetch(&zones_[zone], /*rw=*/1); }
  uint64_t memory_bytes() const { return geometry_.zones * sizeof(Zone); }

  // --- For the cleaner and the recovery, under the cleaning lock. ---
  // Held by the thread that cleans a zone, or changes versions. Taken before the space lock.
  Mutex& cleaning_mutex() NVCACHE_RETURNS_MUTEX(cleaning_mutex_) { return cleaning_mutex_; }
  // Held while zones change hands.
  Mutex& space_mutex() NVCACHE_RETURNS_MUTEX(space_mutex_) { return space_mutex_; }
  // The items before it are those that the last cleaning kept.
  uint64_t hot_line(uint64_t zone) const NVCACHE_REQUIRES(cleaning_mutex_) {
    return zones_[zone].hot_line;
  }
  uint64_t full_version(uint64_t zone) const NVCACHE_REQUIRES(cleaning_mutex_) {
    return zones_[zone].serving.load(std::memory_order_seq_cst) & ~kSwitching;
  }
  uint64_t next_sequence() NVCACHE_REQUIRES(cleaning_mutex_) { return ++sequence_; }
  // Keeps others from pinning the zone. False, and nothing changed, if it stays pinned.
  bool begin_switch(uint64_t zone) NVCACHE_REQUIRES(cleaning_mutex_);
  // Ends the switch. New items go behind the hot line.
  void end_switch(uint64_t zone, uint64_t version, uint64_t hot_line)
      NVCACHE_REQUIRES(cleaning_mutex_);
  // A full zone for the cleaner, as for clean(), and back. kNoZone: there is none.
  uint64_t take_full(ZoneCleaner& cleaner) NVCACHE_REQUIRES(cleaning_mutex_);
  void give_back(uint64_t zone) NVCACHE_REQUIRES(cleaning_mutex_);
  // Room behind all items of a zone that the cleaner has. Not pinned. Empty if there is too little.
  std::optional<Room> append(uint64_t zone, uint64_t item_bytes) NVCACHE_REQUIRES(cleaning_mutex_);
  // Makes a zone serve another version; new items still go where they did.
  void serve(uint64_t zone, uint64_t version) NVCACHE_REQUIRES(cleaning_mutex_) {
    zones_[zone].serving.store(version, std::memory_order_seq_cst);
  }
  std::vector<bool> open_zones() NVCACHE_REQUIRES(space_mutex_);
  // After all zones got a new version: closed zones are fresh again, and no zone has a hot
  // set.
  void forget_items() NVCACHE_REQUIRES(cleaning_mutex_, space_mutex_);
  // Takes over a zone at the opening. Call in the order of the sequence numbers.
  void adopt(uint64_t zone, uint64_t version, uint64_t hot_line, uint64_t sequence, bool unchecked)
      NVCACHE_REQUIRES(cleaning_mutex_, space_mutex_);

 private:
  static constexpr uint64_t kSwitching = uint64_t{1} << 63;

  struct alignas(64) Zone {
    std::atomic<uint32_t> pins{0};  // readers of its items, and writers of new ones
    std::atomic<bool> unchecked{false};
    std::atomic<uint64_t> serving{0};  // version, and kSwitching while it is being cleaned
    std::atomic<uint64_t> cursor{0};   // where the next item goes
    // When the first of its items expires, at the earliest; 0: not known; UINT32_MAX: none does.
    std::atomic<uint32_t> earliest_s{UINT32_MAX};
    uint64_t hot_line = 0;  // under the cleaning lock
  };
  struct alignas(64) Lane {
    std::atomic<uint64_t> zone{kNoZone};
  };

  Validity validity_of(uint64_t serving, uint32_t version) const {
    if ((serving & kSwitching) != 0) return Validity::kBeingCleaned;
    return low_bits(serving) == version ? Validity::kValid : Validity::kVoid;
  }
  bool allocate_in(uint64_t zone, const Lane& lane, uint64_t item_bytes, Room* room);
  bool open_next(Lane& lane, uint64_t full_zone, uint64_t item_bytes, ZoneCleaner& cleaner);
  bool open_ready(Lane& lane, uint64_t full_zone, uint64_t item_bytes);
  void sweep_some(ZoneCleaner& cleaner) NVCACHE_REQUIRES(cleaning_mutex_);
  uint64_t zone_to_sweep(uint32_t now_s) NVCACHE_REQUIRES(cleaning_mutex_);
  uint64_t clean_next(ZoneCleaner& cleaner, uint64_t item_bytes) NVCACHE_REQUIRES(cleaning_mutex_);
  // Whether a list or a lane has it. One that is being cleaned is nowhere; no other one is twice.
  bool is_somewhere(uint64_t zone) const NVCACHE_REQUIRES(space_mutex_);
  uint64_t take_next(std::deque<uint64_t>& from, ZoneCleaner& cleaner)
      NVCACHE_REQUIRES(cleaning_mutex_, space_mutex_);

  DurableMemory& memory_;
  const KvGeometry geometry_;
  const uint32_t low_mask_;
  const std::unique_ptr<Zone[]> zones_;
  std::vector<Lane> lanes_;
  std::function<void()> wake_;

  Mutex cleaning_mutex_ NVCACHE_ACQUIRED_BEFORE(space_mutex_);
  uint64_t sequence_ NVCACHE_GUARDED_BY(cleaning_mutex_) = 0;
  Mutex space_mutex_;
  size_t sample_ NVCACHE_GUARDED_BY(space_mutex_) = 0;  // which full zone was looked at last
  std::deque<uint64_t> fresh_ NVCACHE_GUARDED_BY(space_mutex_);
  std::deque<uint64_t> full_ NVCACHE_GUARDED_BY(space_mutex_);   // oldest first
  std::deque<uint64_t> ready_ NVCACHE_GUARDED_BY(space_mutex_);  // cleaned, and not open yet
  uint64_t wanted_bytes_ NVCACHE_GUARDED_BY(space_mutex_) = 0;   // the item that opened a zone last
};

// A pin that ends with its scope.
class ZonePin {
 public:
  ZonePin() = default;
  // Takes a pin over.
  ZonePin(ZoneLog& log, uint64_t zone) : log_(&log), zone_(zone) {}
  ZonePin(ZonePin&& other) noexcept
      : log_(std::exchange(other.log_, nullptr)), zone_(other.zone_) {}
  ZonePin& operator=(ZonePin&& other) noexcept {
    std::swap(log_, other.log_);
    std::swap(zone_, other.zone_);
    return *this;
  }
  ~ZonePin() {
    if (log_ != nullptr) log_->unpin(zone_);
  }

 private:
  ZoneLog* log_ = nullptr;
  uint64_t zone_ = 0;
};

}  // namespace nvcache
