// Counters that many threads add to without sharing a cache line: each thread
// adds to a stripe of its own, a reader sums the stripes.
//
// add() is one relaxed atomic addition (about 5 ns). sum() reads one line per
// thread seen so far, at most kStripes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvcache {

inline constexpr size_t kStripes = 64;

namespace striped_internal {
inline constinit std::atomic<size_t> threads_seen{0};
inline constinit thread_local size_t own_number = 0;  // 0: not numbered yet
}  // namespace striped_internal

// The stripe of the calling thread; threads beyond kStripes share.
inline size_t thread_stripe() {
  size_t& number = striped_internal::own_number;
  if (number == 0) [[unlikely]] {
    number = 1 + striped_internal::threads_seen.fetch_add(1, std::memory_order_relaxed);
  }
  return (number - 1) % kStripes;
}

// Thread-safe. `Field` is an enum whose last enumerator is kFieldCount.
template <typename Field>
class StripedCounters {
 public:
  static constexpr size_t kFields = static_cast<size_t>(Field::kFieldCount);

  struct alignas(64) Stripe {
    std::array<std::atomic<uint64_t>, kFields> values{};

    void add(Field field, uint64_t amount) {
      values[static_cast<size_t>(field)].fetch_add(amount, std::memory_order_relaxed);
    }
  };

  // The calling thread's stripe: for several additions in a row.
  Stripe& mine() { return stripes_[thread_stripe()]; }
  void add(Field field, uint64_t amount) { mine().add(field, amount); }

  uint64_t sum(Field field) const {
    uint64_t total = 0;
    for (size_t i = 0; i < stripes_in_use(); ++i) {
      total += stripes_[i].values[static_cast<size_t>(field)].load(std::memory_order_relaxed);
    }
    return total;
  }

 private:
  static size_t stripes_in_use() {
    return std::min(striped_internal::threads_seen.load(std::memory_order_relaxed), kStripes);
  }

  std::array<Stripe, kStripes> stripes_{};
};

}  // namespace nvcache
