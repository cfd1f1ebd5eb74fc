// Counters that many threads add to without sharing a cache line: each thread
// has a stripe to itself while it lives, and a reader sums all stripes.
//
// add() is a plain addition (no locked instruction) in the first kStripes - 1
// threads that are alive at a time; all others share the last stripe, atomically.
// sum() reads one line per stripe ever used.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/thread_pointer.h"

namespace nvcache {

inline constexpr size_t kStripes = 64;
inline constexpr size_t kSharedStripe = kStripes - 1;

namespace striped_internal {
// Which thread has which stripe, by the thread's pointer. Every lookup reads it. A thread-local
// variable would be as quick only in the initial-exec model, and a library with one cannot be
// loaded by dlopen() once others have used up the room for such variables.
//
// A thread writes its own place, when that is free, and frees it at its end; another thread reads
// no more than that the place is not its own. Of two threads with one place the second asks
// lease_stripe() each time.
struct Place {
  std::atomic<uintptr_t> thread{0};
  std::atomic<size_t> stripe{0};
};
inline constexpr int kPlaceBits = 9;
inline constinit std::array<Place, size_t{1} << kPlaceBits> places{};
inline Place& place_of(uintptr_t thread) {
  return places[uint64_t{thread} * 0x9e3779b97f4a7c15u >> (64 - kPlaceBits)];
}
// One more than the highest stripe that any thread ever had, the shared one aside.
inline constinit std::atomic<size_t> stripes_used{0};
// The calling thread's stripe. Leases one to it until it ends.
size_t lease_stripe();
}  // namespace striped_internal

inline size_t thread_stripe() {
  const uintptr_t self = thread_pointer();
  const striped_internal::Place& place = striped_internal::place_of(self);
  if (place.thread.load(std::memory_order_relaxed) != self) [[unlikely]]
    return striped_internal::lease_stripe();
  return place.stripe.load(std::memory_order_relaxed);
}

// Thread-safe. `Field` is an enum whose last enumerator is kFieldCount. The first seven fields
// share a cache line: those of the hot path.
template <typename Field>
class StripedCounters {
 public:
  static constexpr size_t kFields = static_cast<size_t>(Field::kFieldCount);

  class alignas(64) Stripe {
   public:
    void add(Field field, uint64_t amount) {
      std::atomic<uint64_t>& value = values_[static_cast<size_t>(field)];
      if (shared_) [[unlikely]] {
        value.fetch_add(amount, std::memory_order_relaxed);
      } else {
        value.store(value.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
      }
    }
    uint64_t value(Field field) const {
      return values_[static_cast<size_t>(field)].load(std::memory_order_relaxed);
    }

   private:
    friend class StripedCounters;
    bool shared_ = false;  // in one cache line with the first seven fields
    std::array<std::atomic<uint64_t>, kFields> values_{};
  };

  StripedCounters() { stripes_[kSharedStripe].shared_ = true; }

  // The calling thread's stripe: for several additions in a row, on this thread.
  Stripe& mine() { return stripes_[thread_stripe()]; }
  void add(Field field, uint64_t amount) { mine().add(field, amount); }

  uint64_t sum(Field field) const {
    const size_t used = striped_internal::stripes_used.load(std::memory_order_relaxed);
    uint64_t total = stripes_[kSharedStripe].value(field);
    for (size_t i = 0; i < used; ++i) total += stripes_[i].value(field);
    return total;
  }

 private:
  std::array<Stripe, kStripes> stripes_{};
};

}  // namespace nvcache
