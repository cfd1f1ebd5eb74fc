// The list of the most recently used items (NVMcached, section 3.3), approximated with one
// byte for each descriptor slot. Time is cut into generations. A generation ends when a
// 16th of the list's length of items were used for the first time in it. The list is the
// items that were used in the last 16 generations: at most `length` items.
//
// Thread-safe. use() is a load, and a store if the item was not used in this generation. Each such
// store also clears old uses in some other slots, at most 65: no call is longer in a larger store.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/assert.h"

namespace nvcache {

class KvUseList {
 public:
  static constexpr uint32_t kGenerations = 16;

  // `bytes` has a byte for each slot and must outlive this object.
  KvUseList(uint8_t* bytes, uint64_t slots) : bytes_(bytes), slots_(slots) { set_length(0); }

  // A list of less than a 512th of the slots is as long as that.
  void set_length(uint64_t items) {
    const uint64_t quota =
        std::max({uint64_t{1}, items / kGenerations, slots_ / kSweepTurns / kMostSweptAtOnce});
    quota_.store(quota, std::memory_order_relaxed);
    sweep_step_.store(slots_ / kSweepTurns / quota + 1, std::memory_order_relaxed);
  }

  // True if this is the first use in its generation.
  bool use(uint64_t slot) {
    NVCACHE_ASSERT_SLOW(slot < slots_);
    const uint8_t now = now_.load(std::memory_order_relaxed);
    std::atomic_ref<uint8_t> last(bytes_[slot]);
    if (last.load(std::memory_order_relaxed) == now) return false;
    last.store(now, std::memory_order_relaxed);
    sweep();
    const uint64_t used = used_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (used >= quota_.load(std::memory_order_relaxed)) next_generation();
    return true;
  }
  void forget(uint64_t slot) {
    std::atomic_ref<uint8_t>(bytes_[slot]).store(0, std::memory_order_relaxed);
  }

  // Generations since the item's last use. kGenerations or more: not on the list.
  uint32_t age(uint64_t slot) const {
    const uint8_t last = std::atomic_ref<uint8_t>(bytes_[slot]).load(std::memory_order_relaxed);
    if (last == 0) return kCold;
    const uint8_t now = now_.load(std::memory_order_relaxed);
    return now >= last ? now - last : now + kLast - last;
  }
  bool hot(uint64_t slot) const { return age(slot) < kGenerations; }

 private:
  static constexpr uint8_t kLast = 255;  // generations are numbered 1 to 255, then 1 again
  static constexpr uint32_t kCold = 1000;
  static constexpr uint64_t kSweepTurns = 128;  // generations in which all slots are swept
  static constexpr uint64_t kMostSweptAtOnce = 64;

  void next_generation() {
    if (turning_.exchange(true, std::memory_order_acquire)) return;
    used_.store(0, std::memory_order_relaxed);
    const uint8_t now = now_.load(std::memory_order_relaxed);
    now_.store(now == kLast ? 1 : now + 1, std::memory_order_relaxed);
    turning_.store(false, std::memory_order_release);
  }

  // Clears uses that fell off the list before their generation's number comes round.
  void sweep() {
    const uint64_t step = sweep_step_.load(std::memory_order_relaxed);
    const uint64_t from = swept_.fetch_add(step, std::memory_order_relaxed);
    for (uint64_t at = from; at < from + step; ++at) {
      const uint64_t slot = at % slots_;
      if (!hot(slot)) forget(slot);
    }
  }

  // Read by each use.
  alignas(64) uint8_t* const bytes_;
  const uint64_t slots_;
  std::atomic<uint64_t> quota_{1};
  std::atomic<uint64_t> sweep_step_{1};
  std::atomic<uint8_t> now_{1};
  // Written by each use that is the first of its generation: nearly all, if items are many.
  alignas(64) std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> swept_{0};
  std::atomic<bool> turning_{false};
};

}  // namespace nvcache
