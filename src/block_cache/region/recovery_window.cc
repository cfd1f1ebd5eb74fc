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

bool RecoveryWindow::has_room() const {
  if (readers_ == kReaders || next_read_ == count_) return false;
  const uint32_t first_used = through();
  if (next_read_ - first_used == kMostIndexes) return false;
  uint64_t bytes = 0;
  for (uint32_t index = first_used; index <= next_read_; ++index) bytes += index_bytes_[index];
  return bytes <= kMostBytes || first_used == next_read_;
}

// The medium first, so that it is never idle while there is room.
RecoveryWindow::Job RecoveryWindow::find() const {
  if (has_room() && pace_.wait_ns() == 0) return {.what = Job::What::kRead, .index = next_read_};
  const Job part = find_part();
  if (part.what == Job::What::kTake && part.count == kMostTogether) return part;
  if (next_sort_ < next_read_ && state_[next_sort_ % kMostIndexes] == State::kRead) {
    return {.what = Job::What::kSort, .index = next_sort_};
  }
  if (part.what == Job::What::kTake) return part;
  return {.what = through() == count_ ? Job::What::kEnd : Job::What::kNone};
}

// The part that is furthest behind.
RecoveryWindow::Job RecoveryWindow::find_part() const {
  Job most;
  most.count = 0;
  for (uint32_t part = 0; part < parts_.size(); ++part) {
    const Part& each = parts_[part];
    const uint32_t count = std::min(sorted_end_ - each.next, kMostTogether);
    if (each.busy || count <= most.count) continue;
    most = {.what = Job::What::kTake, .index = each.next, .part = part, .count = count};
  }
  return most;
}

void RecoveryWindow::begin(const Job& job) {
  if (job.what == Job::What::kRead) {
    ++next_read_;
    ++readers_;
    pace_.take(index_bytes_[job.index]);
  } else if (job.what == Job::What::kSort) {
    ++next_sort_;
  } else if (job.what == Job::What::kTake) {
    parts_[job.part].busy = true;
  }
}

RecoveryWindow::Job RecoveryWindow::next() {
  MutexLock lock(mutex_);
  const Job job = find();
  if (job.what == Job::What::kNone) {
    wait();
    return job;
  }
  begin(job);
  // Who is woken takes a job, and wakes the next one if there are more.
  if (waiting_ > 0 && find().what != Job::What::kNone) changed_.notify_one();
  return job;
}

// Where there is room, only the pace kept this thread from reading, and nobody need be at work to
// wake it, even if the pace lets it read by now. Elsewhere another thread is at work, and tells.
void RecoveryWindow::wait() {
  ++waiting_;
  if (has_room()) {
    const auto longest = std::min(kLongestWait, std::chrono::nanoseconds(pace_.wait_ns()));
    (void)changed_.wait_until(mutex_, CondVar::Clock::now() + longest);
  } else {
    changed_.wait(mutex_);
  }
  --waiting_;
}

void RecoveryWindow::done(const Job& job) {
  MutexLock lock(mutex_);
  State& state = state_[job.index % kMostIndexes];
  switch (job.what) {
    case Job::What::kRead:
      NVCACHE_ASSERT(readers_ > 0 && state == State::kEmpty);
      --readers_;
      state = State::kRead;
      break;
    case Job::What::kSort:
      NVCACHE_ASSERT(state == State::kRead);
      state = State::kSorted;
      parts_left_[job.index % kMostIndexes].store(static_cast<uint32_t>(parts_.size()),
                                                  std::memory_order_relaxed);  // the lock publishes
      // In their order, whichever ended first.
      while (sorted_end_ < next_sort_ && state_[sorted_end_ % kMostIndexes] == State::kSorted) {
        state_[sorted_end_++ % kMostIndexes] = State::kEmpty;
      }
      break;
    case Job::What::kTake:
      parts_[job.part].busy = false;
      parts_[job.part].next += job.count;
      break;
    case Job::What::kNone:
    case Job::What::kEnd:
      break;
  }
}

void RecoveryWindow::leave() {
  MutexLock lock(mutex_);
  changed_.notify_all();
}

}  // namespace nvcache
