#include "block_cache/region/recovery_window.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/assert.h"

namespace nvcache {
namespace {
constexpr std::chrono::nanoseconds kLongestWait = std::chrono::milliseconds(10);
}  // namespace

RecoveryWindow::RecoveryWindow(std::vector<uint64_t> index_bytes, uint32_t parts, ReadPace pace)
    : index_bytes_(std::move(index_bytes)),
      count_(static_cast<uint32_t>(index_bytes_.size())),
      pace_(pace),
      parts_(std::max(parts, 1u)) {}

// Indexes that every part has been through: their places are free.
uint32_t RecoveryWindow::through() const {
  return std::ranges::min_element(parts_, {}, &Part::next)->next;
}

uint64_t RecoveryWindow::bytes_between(uint32_t first, uint32_t end) const {
  uint64_t bytes = 0;
  for (uint32_t index = first; index < end; ++index) bytes += index_bytes_[index];
  return bytes;
}

// How many indexes there is room for. The first one comes alone, so that its blocks are in soonest;
// later on reads wait until several fit.
uint32_t RecoveryWindow::readable() const {
  if (readers_ == kReaders || next_read_ == count_) return 0;
  const uint32_t first_used = through();
  const uint32_t wanted = next_read_ == 0 ? 1 : kTogether;
  const uint32_t most =
      std::min({wanted, count_ - next_read_, kMostIndexes - (next_read_ - first_used)});
  if (most < std::min(kTogether, count_ - next_read_) && next_read_ != 0) return 0;
  const uint64_t used_bytes = bytes_between(first_used, next_read_);
  uint64_t bytes = 0;
  uint32_t count = 0;
  while (count < most) {
    bytes += index_bytes_[next_read_ + count];
    const bool first_of_all = count == 0 && used_bytes == 0;
    if (used_bytes + bytes > kMostBytes && !first_of_all) break;
    if (count > 0 && !pace_.fits(bytes)) break;
    ++count;
  }
  return count;
}

RecoveryWindow::Job RecoveryWindow::next() {
  MutexLock lock(mutex_);
  const uint32_t count = readable();
  const uint64_t pace_ns = count == 0 ? 0 : pace_.wait_ns();
  if (count > 0 && pace_ns == 0) {
    const uint32_t first = next_read_;
    next_read_ += count;
    ++readers_;
    pace_.take(bytes_between(first, next_read_));
    return {.what = Job::What::kRead, .index = first, .count = count};
  }
  for (uint32_t part = 0; part < parts_.size(); ++part) {
    Part& each = parts_[part];
    if (each.busy || each.next == read_end_) continue;
    each.busy = true;
    return {.what = Job::What::kTake, .index = each.next, .part = part};
  }
  if (through() == count_) return {.what = Job::What::kEnd};
  wait(pace_ns);
  return {};
}

void RecoveryWindow::wait(uint64_t pace_ns) {
  if (pace_ns == 0) {  // another thread is at work, and tells
    changed_.wait(mutex_);
    return;
  }
  const auto longest = std::min(kLongestWait, std::chrono::nanoseconds(pace_ns));
  (void)changed_.wait_until(mutex_, CondVar::Clock::now() + longest);
}

void RecoveryWindow::done(const Job& job) {
  MutexLock lock(mutex_);
  if (job.what == Job::What::kRead) {
    for (uint32_t index = job.index; index < job.index + job.count; ++index) {
      parts_left_[index % kMostIndexes].store(static_cast<uint32_t>(parts_.size()),
                                              std::memory_order_relaxed);  // the lock publishes it
      is_read_[index % kMostIndexes] = true;
    }
    NVCACHE_ASSERT(readers_ > 0 && job.index >= read_end_);
    --readers_;
    // In their order, whichever read ended first.
    for (; read_end_ < next_read_ && is_read_[read_end_ % kMostIndexes]; ++read_end_) {
      is_read_[read_end_ % kMostIndexes] = false;
    }
  } else {
    parts_[job.part].busy = false;
    ++parts_[job.part].next;
  }
  changed_.notify_all();
}

}  // namespace nvcache
