// A histogram of 64-bit values (latencies in nanoseconds) with logarithmic
// buckets: 64 for each power of two, so a quantile is off by at most 1.6%.
// Caller-locked: each thread keeps one, and merges it at the end.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace nvcache {

class Histogram {
 public:
  Histogram() : buckets_(kBuckets, 0) {}

  void record(uint64_t value) {
    ++buckets_[bucket_of(value)];
    ++count_;
    sum_ += value;
    max_ = std::max(max_, value);
  }

  void merge(const Histogram& other) {
    for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }

  void clear() { *this = Histogram(); }

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  double mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

  // The smallest bucket middle that at least a share `q` (0 to 1) of the values
  // lies at or below; 0 when nothing was recorded.
  uint64_t quantile(double q) const {
    if (count_ == 0) return 0;
    const auto wanted = static_cast<uint64_t>(std::llround(q * static_cast<double>(count_)));
    const uint64_t rank = std::clamp<uint64_t>(wanted, 1, count_);
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (seen >= rank) return std::min(middle_of(i), max_);
    }
    return max_;
  }

 private:
  static constexpr int kSubBits = 6;
  static constexpr uint64_t kSub = uint64_t{1} << kSubBits;
  // Values below 64 have a bucket each; each power of two above adds 64.
  static constexpr size_t kBuckets = (64 - kSubBits + 1) * kSub;

  static size_t bucket_of(uint64_t value) {
    if (value < kSub) return static_cast<size_t>(value);
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kSubBits;
    return static_cast<size_t>((static_cast<uint64_t>(shift) + 1) * kSub + (value >> shift) - kSub);
  }

  static uint64_t middle_of(size_t bucket) {
    if (bucket < kSub) return bucket;
    const uint64_t shift = bucket / kSub - 1;
    const uint64_t low = (kSub + bucket % kSub) << shift;
    return low + (uint64_t{1} << shift) / 2;
  }

  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace nvcache
