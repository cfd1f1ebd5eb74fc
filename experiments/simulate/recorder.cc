#include "experiments/simulate/recorder.h"

#include <cmath>
#include <numeric>

namespace nvcache::simulate {
namespace {

// Standard deviation over mean.
double variation(const std::vector<double>& values, size_t from) {
  const auto count = static_cast<double>(values.size() - from);
  double sum = 0;
  for (size_t i = from; i < values.size(); ++i) sum += values[i];
  const double mean = sum / count;
  double squares = 0;
  for (size_t i = from; i < values.size(); ++i) squares += (values[i] - mean) * (values[i] - mean);
  return mean > 0 ? std::sqrt(squares / count) / mean : 0;
}

}  // namespace

Latency latency_of(const Histogram& histogram) {
  return {.mean_ns = histogram.mean(),
          .p50_ns = histogram.quantile(0.5),
          .p95_ns = histogram.quantile(0.95),
          .p99_ns = histogram.quantile(0.99)};
}

void Recorder::count(Result* result) const {
  const auto of = [this](OpType type) -> const Histogram& {
    return latency_ns_[static_cast<size_t>(type)];
  };
  result->reads = of(OpType::kRead).count();
  result->updates = of(OpType::kUpdate).count();
  result->inserts = of(OpType::kInsert).count();
  result->scans = of(OpType::kScan).count();
  Histogram reads = of(OpType::kRead);
  reads.merge(of(OpType::kScan));
  Histogram updates = of(OpType::kUpdate);
  updates.merge(of(OpType::kInsert));
  result->read_latency = latency_of(reads);
  result->update_latency = latency_of(updates);
  reads.merge(updates);
  result->latency = latency_of(reads);
  result->warm_read_latency = latency_of(warm_reads_ns_);
  result->operations = reads.count();
  result->seconds = static_cast<double>(end_ns_) * 1e-9;
  result->ops_per_second = static_cast<double>(result->operations) / result->seconds;
  for (const uint64_t operations : intervals_) {
    result->interval_ops_per_second.push_back(static_cast<double>(operations) * kIntervals /
                                              result->seconds);
  }
  constexpr uint32_t kHalf = kIntervals / 2;
  const auto half = result->interval_ops_per_second.begin() + kHalf;
  result->warm_ops_per_second =
      std::accumulate(half, result->interval_ops_per_second.end(), 0.0) / kHalf;
  result->interval_variation = variation(result->interval_ops_per_second, kHalf);
}

}  // namespace nvcache::simulate
