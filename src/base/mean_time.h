// The mean of recent times, decaying: each new one counts a sixteenth, or what Options say. One
// time counts as at most eight times the mean, so that a stall is not taken for what is usual.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace nvcache {

// Thread-safe and lock-free. Of threads that add at once, one may be lost.
class MeanTime {
 public:
  struct Options {
    uint64_t times = 16;  // that the mean is of, about
    uint64_t most_times_the_mean = 8;
  };

  MeanTime() = default;
  explicit MeanTime(Options options) : options_(options) {}

  // 0 before the first; never 0 after it.
  uint64_t ns() const { return mean_ns_.load(std::memory_order_relaxed); }

  void add(uint64_t took_ns) {
    const auto [times, most_times] = options_;
    const uint64_t mean = ns();
    const uint64_t counted = mean == 0 ? took_ns : std::min(took_ns, most_times * mean);
    const uint64_t sum = mean == 0 ? counted * times : mean * (times - 1) + counted;
    mean_ns_.store(std::max<uint64_t>(sum / times, 1), std::memory_order_relaxed);
  }

 private:
  const Options options_;
  std::atomic<uint64_t> mean_ns_{0};
};

}  // namespace nvcache
