#include "medium/read_queues.h"

#include <utility>

#include "medium/ring_queue.h"
#include "medium/thread_queue.h"

namespace nvcache {

void find_way(AsyncReads wanted, int fd, Traits* traits) {
  traits->async = wanted;
  if (wanted != AsyncReads::kRing) return;
  const Status status = try_ring(fd, traits->io_granularity_bytes);
  if (status.ok()) return;
  traits->async = AsyncReads::kThreads;
  traits->no_ring = status.message();
}

TakenReadQueue ReadQueues::take() noexcept {
  if (way_ == AsyncReads::kOff) return nullptr;
  return take_or_make(kept_, [this] { return make(); });
}

std::unique_ptr<ReadQueue> ReadQueues::make() {
  if (way_ == AsyncReads::kRing) {
    // The system may let us have some rings, and no more: it counts their memory and descriptors.
    StatusOr<std::unique_ptr<ReadQueue>> ring = open_ring_queue(target_);
    if (ring.ok()) return *std::move(ring);
  }
  return std::make_unique<ThreadQueue>(threads_);
}

}  // namespace nvcache
