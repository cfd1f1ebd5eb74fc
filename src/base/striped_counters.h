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

namespace nvcache {

inline constexpr size_t kStripes = 64;
inline constexpr size_t kSharedStripe = kStripes - 1;

namespace striped_internal {
// One more than the calling thread's stripe; 0: it has none yet. (Every lookup
// reads it, hence the TLS model: it needs no call to find the variable.)
inline constinit thread_local size_t own_number [[gnu::tls_model("initial-exec")]] = 0;
// One more than the highest stripe that any thread ever had, the shared one aside.
inline constinit std::atomic<size_t> stripes_used{0};
// Leases a stripe to the calling thread until it ends.
size_t lease_stripe();
}  // namespace striped_internal

inline size_t thread_stripe() {
  const size_t number = striped_internal::own_number;
  if (number == 0) [[unlikely]]
    return striped_internal::lease_stripe();
  return number - 1;
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
