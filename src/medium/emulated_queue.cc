#include "medium/emulated_queue.h"

#include <algorithm>
#include <limits>
#include <span>

#include "base/assert.h"

namespace nvcache {
namespace {

constexpr uint64_t kNothingArrived = std::numeric_limits<uint64_t>::max();

}  // namespace

void EmulatedQueue::begin(Slot slot, QueuedRead& read) {
  if (Status status = medium_.check(read.offset, read.into.data(), read.into.size());
      !status.ok()) {
    finish(slot, std::move(status));
    return;
  }
  Flight& flight = flights_[slot];
  QueuedRead& inner_read = inner_reads_[slot];
  inner_read.offset = read.offset;
  inner_read.into = read.into;
  flight.done_ns = medium_.charge_read(read.into.size());
  flight.arrived = inner_ == nullptr;
  if (inner_ == nullptr) {
    inner_read.status = medium_.inner_->read(read.offset, read.into);
  } else {
    begun_[begun_count_++] = &inner_read;
  }
}

void EmulatedQueue::begin_no_more() {
  const size_t count = std::exchange(begun_count_, 0);
  if (count == 0) return;
  [[maybe_unused]] const size_t begun = inner_->submit(std::span(begun_).first(count));
  NVCACHE_ASSERT(begun == count);  // as deep as this one
}

void EmulatedQueue::reap(bool wait) {
  for (bool waits_for_bytes = false;;) {
    take_arrived(waits_for_bytes);
    const uint64_t next_ns = finish_until(medium_.clock_.now_ns());
    if (!wait || any_finished()) return;
    waits_for_bytes = next_ns == kNothingArrived;
    if (!waits_for_bytes) medium_.clock_.wait_until_ns(next_ns);
  }
}

void EmulatedQueue::take_arrived(bool wait) {
  if (inner_ == nullptr) return;
  std::array<QueuedRead*, kDepth> done{};
  const size_t count = inner_->complete(done, wait);
  for (QueuedRead* const read : std::span(done).first(count)) {
    flights_[static_cast<size_t>(read - inner_reads_.data())].arrived = true;
  }
}

// When the next one that has arrived is done.
uint64_t EmulatedQueue::finish_until(uint64_t now_ns) {
  uint64_t next_ns = kNothingArrived;
  for (Slot slot = 0; slot < kDepth; ++slot) {
    Flight& flight = flights_[slot];
    if (!flight.arrived) continue;
    if (flight.done_ns > now_ns) {
      next_ns = std::min(next_ns, flight.done_ns);
      continue;
    }
    flight.arrived = false;
    finish(slot, std::move(inner_reads_[slot].status));
  }
  return next_ns;
}

}  // namespace nvcache
