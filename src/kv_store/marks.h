// The list of the most recently used items (NVMcached, section 3.3), approximated with one
// byte for each descriptor slot. Time is cut into generations. A generation ends when a
// 16th of the list's length of items were used for the first time in it. The list is the
// items that were used in the last 16 generations: at most `length` items.
//
// Thread-safe. use() is a load, and a store if the item was not used in this generation.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace nvcache {

class KvMarks {
 public:
  static constexpr uint32_t kGenerations = 16;

  // `bytes` has a byte for each slot and must outlive this object.
  KvMarks(uint8_t* bytes, uint64_t slots) : bytes_(bytes), slots_(slots) {}

  void set_length(uint64_t items) {
    quota_.store(std::max<uint64_t>(1, items / kGenerations), std::memory_order_relaxed);
  }

  // True if the mark changed.
  bool use(uint64_t slot) {
    const uint8_t now = now_.load(std::memory_order_relaxed);
    std::atomic_ref<uint8_t> mark(bytes_[slot]);
    if (mark.load(std::memory_order_relaxed) == now) return false;
    mark.store(now, std::memory_order_relaxed);
    const uint64_t used = used_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (used >= quota_.load(std::memory_order_relaxed)) next_generation();
    return true;
  }
  void forget(uint64_t slot) {
    std::atomic_ref<uint8_t>(bytes_[slot]).store(0, std::memory_order_relaxed);
  }

  // Generations since the item's last use. kGenerations or more: not on the list.
  uint32_t age(uint64_t slot) const {
    const uint8_t mark = std::atomic_ref<uint8_t>(bytes_[slot]).load(std::memory_order_relaxed);
    if (mark == 0) return kCold;
    const uint8_t now = now_.load(std::memory_order_relaxed);
    return now >= mark ? now - mark : now + kLast - mark;
  }
  bool hot(uint64_t slot) const { return age(slot) < kGenerations; }

 private:
  static constexpr uint8_t kLast = 255;  // generations are numbered 1 to 255, then 1 again
  static constexpr uint32_t kCold = 1000;
  static constexpr uint64_t kSweepParts = 128;

  void next_generation() {
    if (turning_.exchange(true, std::memory_order_acquire)) return;
    used_.store(0, std::memory_order_relaxed);
    const uint8_t now = now_.load(std::memory_order_relaxed);
    now_.store(now == kLast ? 1 : now + 1, std::memory_order_relaxed);
    // Clears marks that fell off the list before their generation's number comes round.
    const uint64_t part = slots_ / kSweepParts + 1;
    const uint64_t end = std::min(slots_, swept_ + part);
    for (uint64_t slot = swept_; slot < end; ++slot) {
      if (!hot(slot)) forget(slot);
    }
    swept_ = end == slots_ ? 0 : end;
    turning_.store(false, std::memory_order_release);
  }

  uint8_t* const bytes_;
  const uint64_t slots_;
  std::atomic<uint64_t> quota_{1};
  std::atomic<uint64_t> used_{0};
  std::atomic<uint8_t> now_{1};
  std::atomic<bool> turning_{false};
  uint64_t swept_ = 0;
};

}  // namespace nvcache
