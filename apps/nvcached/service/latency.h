// How long requests took: counts in fixed steps, 1, 2 and 5 of each power of ten from 100 ns to 1
// s. Prometheus' histograms have such steps, and quantiles are made of their differences.
//
// One thread adds, any thread reads. An addition costs a search of 22 bounds and two stores; it is
// meant for a sample of the requests.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvcache::server {

inline constexpr std::array<uint64_t, 22> kLatencyBoundsNs = {
    100,         200,         500,         1'000,        2'000,      5'000,
    10'000,      20'000,      50'000,      100'000,      200'000,    500'000,
    1'000'000,   2'000'000,   5'000'000,   10'000'000,   20'000'000, 50'000'000,
    100'000'000, 200'000'000, 500'000'000, 1'000'000'000};

// The requests that are timed: those that read items, and those that store them.
enum class Timed : uint8_t { kGet, kSet, kEnd };
inline constexpr size_t kTimed = static_cast<size_t>(Timed::kEnd);
inline constexpr std::array<const char*, kTimed> kTimedNames = {"get", "set"};

struct LatencyTotals {
  // A count for each step: longer than the bound before, at most its own. The last has no bound.
  std::array<uint64_t, kLatencyBoundsNs.size() + 1> counts{};
  uint64_t sum_ns = 0;
};
using LatencyTable = std::array<LatencyTotals, kTimed>;

class LatencyCounts {
 public:
  void add(uint64_t ns) {
    const auto* const bound =
        std::lower_bound(kLatencyBoundsNs.begin(), kLatencyBoundsNs.end(), ns);
    increase(counts_[static_cast<size_t>(bound - kLatencyBoundsNs.begin())], 1);
    increase(sum_ns_, ns);
  }

  void add_to(LatencyTotals& totals) const {
    for (size_t i = 0; i < counts_.size(); ++i) {
      totals.counts[i] += counts_[i].load(std::memory_order_relaxed);
    }
    totals.sum_ns += sum_ns_.load(std::memory_order_relaxed);
  }

 private:
  // Relaxed: a reader needs no more than each number.
  static void increase(std::atomic<uint64_t>& value, uint64_t by) {
    value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<std::atomic<uint64_t>, kLatencyBoundsNs.size() + 1> counts_{};
  std::atomic<uint64_t> sum_ns_{0};
};

}  // namespace nvcache::server
