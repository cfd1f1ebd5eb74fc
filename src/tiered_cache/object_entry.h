// An object that a TieredCache holds on the heap, and what the first tier knows about it.
// A handle is a pointer to an entry.
//
// States and transitions:
//
//   outside --insert--> resident <--release / find--> resident, held
//   resident, held --its turn to be evicted comes--> parked --last release--> resident
//   resident --evict, erase, replace--> outside
//   outside --last release--> removed: demoted if it was evicted, then destroyed, unlocked
//
// Resident: lookups find it by its key. Only what is not held is evicted; what is parked, too, is
// in no list, so that no eviction passes over it again. An entry is never
// resident if it was made from a block of a lower tier that keeps the block, or if it wraps a
// standalone object.
//
// One word holds the references and whether the entry is resident, so that a lookup takes a
// reference without a lock, and only of a resident entry. It may have read the address of an entry
// that was destroyed before: the memory of entries is that of other entries only, as long as the
// cache lives (ObjectPool). So a reader that took a reference compares the key afterwards.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/assert.h"
#include "nvcache/tiered_cache.h"

namespace nvcache {

// Why an entry left the first tier.
enum class Departure : uint8_t { kOutside, kEvicted, kErased };

// A hit touches the first cache line only.
class alignas(64) TieredCache::Handle {
 public:
  static constexpr uint32_t kInlineKeyBytes = 16;

  // --- Thread-safe.
  // Takes a reference if the entry is resident and has this hash. Its key may be another; *first
  // says whether no other held it.
  bool try_hold(uint64_t wanted_hash, bool* first) {
    if (hash.load(std::memory_order_relaxed) != wanted_hash) return false;
    uint64_t now = state_.load(std::memory_order_relaxed);
    while ((now & kResident) != 0) {
      const uint64_t held = (now + 1) | kUsed | kWasHit;
      if (state_.compare_exchange_weak(now, held, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
        *first = references(now) == 0;
        return true;
      }
    }
    return false;
  }
  // Takes a reference of an entry that cannot go, without counting as its use.
  bool hold() { return references(state_.fetch_add(1, std::memory_order_acq_rel)) == 0; }
  struct Released {
    bool last;
    bool resident;  // then the entry may be gone already
    bool parked;
  };
  Released drop() {
    const uint64_t before = state_.fetch_sub(1, std::memory_order_acq_rel);
    NVCACHE_ASSERT_SLOW(references(before) > 0);
    return {references(before) == 1, (before & kResident) != 0, (before & kParked) != 0};
  }
  bool is_held() const { return references(state_.load(std::memory_order_acquire)) > 0; }
  bool is_resident() const { return (state_.load(std::memory_order_relaxed) & kResident) != 0; }
  bool was_hit() const { return (state_.load(std::memory_order_relaxed) & kWasHit) != 0; }

  // --- With the key's shard locked.
  void enter(uint32_t held_by, bool hit) {
    state_.store(kResident | (hit ? kWasHit : 0) | held_by, std::memory_order_release);
  }
  void hold_outside() { state_.store(1, std::memory_order_release); }
  // No reader takes a new reference afterwards. True if none has one.
  bool leave() {
    const uint64_t before = state_.fetch_and(~(kResident | kParked), std::memory_order_acq_rel);
    return references(before) == 0;
  }
  // The same, and nothing is changed, if it is held.
  bool leave_if_idle() {
    uint64_t now = state_.load(std::memory_order_relaxed);
    while (references(now) == 0) {
      if (state_.compare_exchange_weak(now, now & ~kResident, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  // False, and nothing is changed, if it is not held. The thread that drops the last reference
  // unparks it.
  bool park() {
    uint64_t now = state_.load(std::memory_order_relaxed);
    while (references(now) > 0) {
      if (state_.compare_exchange_weak(now, now | kParked, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  bool is_parked() const { return (state_.load(std::memory_order_relaxed) & kParked) != 0; }
  // False if it is not parked, or not any more: another thread has done so, or removed it.
  bool unpark() { return (state_.fetch_and(~kParked, std::memory_order_acq_rel) & kParked) != 0; }
  // Whether it was used since the last call.
  bool take_use() {
    if ((state_.load(std::memory_order_relaxed) & kUsed) == 0) return false;
    return (state_.fetch_and(~kUsed, std::memory_order_relaxed) & kUsed) != 0;
  }

  bool is(std::string_view wanted) const {
    if (wanted.size() != key_bytes) return false;
    if (key_bytes != kInlineKeyBytes) return key() == wanted;
    // Most keys; without a call.
    uint64_t ours[2];
    uint64_t theirs[2];
    std::memcpy(ours, inline_key, sizeof ours);
    std::memcpy(theirs, wanted.data(), sizeof theirs);
    return ours[0] == theirs[0] && ours[1] == theirs[1];
  }
  std::string_view key() const {
    return {key_bytes > kInlineKeyBytes ? long_key : inline_key, key_bytes};
  }

 private:
  static constexpr uint64_t kResident = uint64_t{1} << 32;
  static constexpr uint64_t kUsed = uint64_t{1} << 33;    // since the hand of the clock came by
  static constexpr uint64_t kWasHit = uint64_t{1} << 34;  // since it became resident
  static constexpr uint64_t kParked = uint64_t{1} << 35;  // only of a resident entry
  static uint32_t references(uint64_t state) { return static_cast<uint32_t>(state); }

  std::atomic<uint64_t> state_{0};

 public:
  std::atomic<Handle*> next_in_bucket{nullptr};
  std::atomic<uint64_t> hash{0};
  union {
    char inline_key[kInlineKeyBytes];
    char* long_key;
  };
  // These do not change while the entry is in use.
  uint32_t key_bytes = 0;
  uint32_t token = 0;     // of the key when it was removed; set by the thread that removes it
  size_t used_bytes = 0;  // the charge of the object, and of the entry where metadata is charged
  Object object;

  // Under the lock of the shard, or of the thread that removed the entry.
  Handle* newer = nullptr;
  union {
    Handle* older = nullptr;
    Handle* next_removed;  // in RemovedEntries, and in ObjectPool
  };
  std::unique_ptr<Pin> source;  // pins the block of a lower tier that it was made from
  uint8_t tier = 0;             // that served it: 0, or the lower tier that has its block
  Priority priority = Priority::kLow;
  uint8_t pool = 0;
  Departure departure = Departure::kOutside;
  bool charged = false;  // counts towards the capacity
  bool large = false;    // has room of its own: see SharedRoom
};

using ObjectEntry = TieredCache::Handle;
static_assert(sizeof(ObjectEntry) == 128);

}  // namespace nvcache
