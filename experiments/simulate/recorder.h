// Measures the operations of a simulation. Caller-locked.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/histogram.h"
#include "experiments/simulate/simulate.h"
#include "experiments/workload/ycsb.h"

namespace nvcache::simulate {

Latency latency_of(const Histogram& histogram);

class Recorder {
 public:
  static constexpr uint32_t kIntervals = 60;

  explicit Recorder(uint64_t end_ns) : end_ns_(end_ns) {}

  // Operations that end after the run do not count.
  void finish(OpType type, uint64_t begin_ns, uint64_t done_ns) {
    if (done_ns >= end_ns_) return;
    latency_ns_[static_cast<size_t>(type)].record(done_ns - begin_ns);
    const bool reads = type == OpType::kRead || type == OpType::kScan;
    if (reads && begin_ns >= half_ns()) warm_reads_ns_.record(done_ns - begin_ns);
    // Of many intervals of one length, the last is cut short by less than one ns each.
    ++intervals_[static_cast<size_t>(static_cast<unsigned __int128>(done_ns) * kIntervals /
                                     end_ns_)];
  }

  // The second half of the run begins.
  uint64_t half_ns() const { return end_ns_ / 2; }

  void count(Result* result) const;

 private:
  const uint64_t end_ns_;
  std::array<Histogram, kOpTypeCount> latency_ns_;
  Histogram warm_reads_ns_;
  std::array<uint64_t, kIntervals> intervals_{};
};

}  // namespace nvcache::simulate
