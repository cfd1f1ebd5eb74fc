#include "medium/read_queue.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace nvcache {

ReadQueue::ReadQueue() {
  for (size_t at = 0; at < kDepth; ++at) free_[at] = static_cast<Slot>(kDepth - 1 - at);
}

ReadQueue::~ReadQueue() { NVCACHE_ASSERT(in_flight() == 0 || !is_in_this_process()); }

size_t ReadQueue::submit(std::span<QueuedRead* const> reads) {
  const size_t count = std::min(reads.size(), kDepth - in_flight());
  if (count == 0) return 0;
  for (QueuedRead* const read : reads.first(count)) {
    const Slot slot = free_[--free_count_];
    NVCACHE_ASSERT_SLOW(reads_[slot] == nullptr);
    reads_[slot] = read;
    if (is_in_this_process()) begin(slot, *read);
  }
  if (is_in_this_process()) begin_no_more();
  return count;
}

size_t ReadQueue::complete(std::span<QueuedRead*> done, bool wait) {
  if (!is_in_this_process()) {
    fail_all_in_flight();
  } else if (free_count_ < kDepth) {
    reap(wait && !any_finished() && !done.empty());
  }
  const size_t count = std::min(done.size(), finished_count_);
  // The oldest first: none waits behind those that are finished later.
  std::copy_n(finished_.begin(), count, done.begin());
  std::move(finished_.begin() + static_cast<std::ptrdiff_t>(count),
            finished_.begin() + static_cast<std::ptrdiff_t>(finished_count_), finished_.begin());
  finished_count_ -= count;
  return count;
}

void ReadQueue::finish(Slot slot, Status status) {
  QueuedRead* const read = std::exchange(reads_[slot], nullptr);
  NVCACHE_ASSERT(read != nullptr);
  read->status = std::move(status);
  finished_[finished_count_++] = read;
  free_[free_count_++] = slot;
}

void ReadQueue::fail_all_in_flight() {
  for (size_t slot = 0; slot < kDepth; ++slot) {
    if (reads_[slot] == nullptr) continue;
    finish(static_cast<Slot>(slot),
           unavailable_error("reading side by side in a child of the process that opened it"));
  }
}

}  // namespace nvcache
