#include "medium/cost_model.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/assert.h"
#include "base/exact_math.h"

namespace nvcache {
namespace {

constexpr double kNoWriters = 1e-6;      // below this a medium reads as if alone
constexpr size_t kExpectedWriters = 64;  // room kept so that a write seldom allocates

}  // namespace

CostModel::CostModel(const Profile& profile, double load) : profile_(profile), load_(load) {
  NVCACHE_ASSERT(load >= 1 && profile.transfer_bytes > 0 && profile.settle_ns > 0);
  for (size_t i = 0; i < points_.size(); ++i) {
    NVCACHE_ASSERT(i == 0 || profile.curve[i].writers > points_[i - 1]);
    points_[i] = profile.curve[i].writers;
    log_read_[i] = exact_log(profile.curve[i].read_gb_s);
    log_write_[i] = exact_log(profile.curve[i].write_gb_s);
  }
  write_ends_ns_.reserve(kExpectedWriters);
}

uint64_t CostModel::start_read(uint64_t now_ns, uint64_t size_bytes) {
  const uint64_t now = advance(now_ns);
  const double bytes = transfer_bytes(size_bytes);
  const double gb_s = read_gb_s(smoothed_writers_);
  const double slowdown = profile_.curve[0].read_gb_s / gb_s;
  double alone_ns = static_cast<double>(profile_.read_latency_ns);
  if (profile_.stream_gb_s > 0) alone_ns += bytes / profile_.stream_gb_s;
  const auto start = static_cast<double>(now);
  const double transfer_ns = bytes / gb_s;
  const double through_ns = std::max(start, read_pipe_free_ns_) + transfer_ns;
  read_pipe_free_ns_ = through_ns + (load_ - 1) * transfer_ns;
  return static_cast<uint64_t>(std::llround(std::max(through_ns, start + alone_ns * slowdown)));
}

uint64_t CostModel::start_write(uint64_t now_ns, uint64_t size_bytes) {
  const uint64_t now = advance(now_ns);
  const double in_flight = load_ * static_cast<double>(write_ends_ns_.size() + 1);
  const auto start = static_cast<double>(now);
  const double transfer_ns = transfer_bytes(size_bytes) / write_gb_s(in_flight);
  const double through_ns = std::max(start, write_pipe_free_ns_) + transfer_ns;
  write_pipe_free_ns_ = through_ns + (load_ - 1) * transfer_ns;
  const auto done = static_cast<uint64_t>(
      std::llround(std::max(through_ns, start + static_cast<double>(profile_.write_latency_ns))));
  write_ends_ns_.push_back(done);
  std::push_heap(write_ends_ns_.begin(), write_ends_ns_.end(), std::greater<>());
  return done;
}

uint64_t CostModel::start_store(uint64_t now_ns, uint64_t offset, uint64_t size_bytes) {
  const uint64_t now = advance(now_ns);
  owed_bytes_ += span_bytes(offset, size_bytes);
  const double over = owed_bytes_ - static_cast<double>(kProcessorCacheBytes);
  if (over <= 0) return now;
  const double free_ns = std::max(static_cast<double>(now), write_pipe_free_ns_);
  return static_cast<uint64_t>(std::llround(free_ns + over / write_gb_s(1)));
}

CostModel::Flush CostModel::start_flush(uint64_t now_ns, uint64_t offset, uint64_t size_bytes) {
  const uint64_t line = profile_.flush_line_bytes;
  if (line == 0 || size_bytes == 0) return {.issued_ns = now_ns, .accepted_ns = now_ns};
  size_bytes = std::min(size_bytes, kProcessorCacheBytes);
  const uint64_t lines = (offset + size_bytes + line - 1) / line - offset / line;
  const uint64_t issued_ns = advance(now_ns) + lines * profile_.flush_issue_ns;
  const auto bytes = static_cast<uint64_t>(span_bytes(offset, size_bytes));
  return {.issued_ns = issued_ns, .accepted_ns = std::max(issued_ns, start_write(now_ns, bytes))};
}

double CostModel::writers(uint64_t now_ns) {
  advance(now_ns);
  return smoothed_writers_;
}

double CostModel::read_gb_s(double writers) const {
  if (writers < kNoWriters) return profile_.curve[0].read_gb_s;
  return exact_exp(interpolate(log_read_, writers));
}

double CostModel::write_gb_s(double writers) const {
  return exact_exp(interpolate(log_write_, writers));
}

double CostModel::interpolate(const Curve& log_gb_s, double writers) const {
  for (size_t i = 1; i < points_.size(); ++i) {
    if (writers > points_[i]) continue;
    const double share = (writers - points_[i - 1]) / (points_[i] - points_[i - 1]);
    return log_gb_s[i - 1] + share * (log_gb_s[i] - log_gb_s[i - 1]);
  }
  return log_gb_s.back();
}

// Brings w up to now, ending the writes that have ended meanwhile in their order.
uint64_t CostModel::advance(uint64_t now_ns) {
  const uint64_t now = std::max(now_ns, last_ns_);
  while (!write_ends_ns_.empty() && write_ends_ns_.front() <= now) {
    smooth_until(write_ends_ns_.front());
    std::pop_heap(write_ends_ns_.begin(), write_ends_ns_.end(), std::greater<>());
    write_ends_ns_.pop_back();
  }
  smooth_until(now);
  NVCACHE_ASSERT_SLOW(last_ns_ == now && owed_bytes_ >= 0);
  return now;
}

void CostModel::smooth_until(uint64_t when_ns) {
  if (when_ns <= last_ns_) return;
  const double in_flight =
      load_ * static_cast<double>(write_ends_ns_.size()) + (owed_bytes_ > 0 ? 1 : 0);
  if (owed_bytes_ > 0) pay_back(when_ns);
  if (in_flight > 0 || smoothed_writers_ >= kNoWriters) {
    const double elapsed = static_cast<double>(when_ns - last_ns_);
    const double kept = exact_exp(-elapsed / static_cast<double>(profile_.settle_ns));
    smoothed_writers_ = in_flight + (smoothed_writers_ - in_flight) * kept;
  }
  last_ns_ = when_ns;
}

// Owed time goes to the medium while no thread waits for it.
void CostModel::pay_back(uint64_t until_ns) {
  const double from_ns = std::max(static_cast<double>(last_ns_), write_pipe_free_ns_);
  const double idle_ns = static_cast<double>(until_ns) - from_ns;
  if (idle_ns > 0) owed_bytes_ = std::max(0.0, owed_bytes_ - idle_ns * write_gb_s(1));
}

// Of whole transfers, at the place where they lie.
double CostModel::span_bytes(uint64_t offset, uint64_t size_bytes) const {
  if (size_bytes == 0) return 0;
  const uint64_t unit = profile_.transfer_bytes;
  const uint64_t begin = offset / unit * unit;
  return transfer_bytes(offset + size_bytes - begin);
}

double CostModel::transfer_bytes(uint64_t size_bytes) const {
  const uint64_t unit = profile_.transfer_bytes;
  const uint64_t units = (size_bytes + unit - 1) / unit;
  return static_cast<double>(units * unit);
}

}  // namespace nvcache
