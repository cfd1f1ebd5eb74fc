// A bound on what all connections hold together: bytes of DRAM outside of the store (requests that
// have not arrived whole, answers that their clients have not read), and values that stay pinned in
// the store until a client reads on. Without the first, a thousand slow readers would take
// gigabytes; without the second, they would keep the store from reusing its zones.
//
// Thread-safe. Costs an atomic addition when a connection begins or ends to hold something; one
// that is idle or reads its answers at once holds nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"

namespace nvcache::server {

class Budget {
 public:
  // `reserve` is a part of `most`. Its last quarter is kept for take_last().
  explicit Budget(uint64_t most, uint64_t reserve = 0) : most_(most), reserve_(reserve) {
    NVCACHE_ASSERT(reserve <= most);
  }

  // False, and nothing taken, if so much does not fit beside the reserve.
  [[nodiscard]] bool take(uint64_t amount) { return take_up_to(amount, usual()); }
  // For a caller that has made others give something back, which they do soon.
  [[nodiscard]] bool take_of_reserve(uint64_t amount) {
    return take_up_to(amount, most_ - reserve_ / 4);
  }
  // Takes from the last part, too: false only if all is taken.
  [[nodiscard]] bool take_last(uint64_t amount) { return take_up_to(amount, most_); }
  void give(uint64_t amount) {
    const uint64_t before = used_.fetch_sub(amount, std::memory_order_relaxed);
    NVCACHE_ASSERT(before >= amount);
  }

  // Whether take() would take so much now.
  bool has(uint64_t amount) const { return used() + amount <= usual(); }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t most() const { return most_; }
  uint64_t reserve() const { return reserve_; }
  uint64_t usual() const { return most_ - reserve_; }

 private:
  // Never more, not for a moment: others would find too little.
  bool take_up_to(uint64_t amount, uint64_t limit) {
    uint64_t used = this->used();
    do {
      if (used > limit || amount > limit - used) return false;
    } while (!used_.compare_exchange_weak(used, used + amount, std::memory_order_relaxed));
    return true;
  }

  const uint64_t most_;
  const uint64_t reserve_;
  std::atomic<uint64_t> used_{0};
};

}  // namespace nvcache::server
