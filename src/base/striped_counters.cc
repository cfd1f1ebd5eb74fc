#include "base/striped_counters.h"

#include <algorithm>
#include <vector>

#include "base/mutex.h"
#include "base/never_destroyed.h"

namespace nvcache::striped_internal {
namespace {

// Stripes that ended threads gave back. Never destroyed: threads may outlive main().
struct Pool {
  Mutex mutex;
  std::vector<size_t> free NVCACHE_GUARDED_BY(mutex);
  size_t next NVCACHE_GUARDED_BY(mutex) = 0;
};

Pool& pool() {
  static NeverDestroyed<Pool> shared;
  return *shared;
}

// Code may still run on a thread whose lease has ended.
constinit thread_local bool lease_ended = false;

struct Lease {
  size_t stripe = kSharedStripe;

  Lease() {
    Pool& from = pool();
    MutexLock lock(from.mutex);
    if (!from.free.empty()) {
      stripe = from.free.back();
      from.free.pop_back();
    } else if (from.next < kSharedStripe) {
      stripe = from.next++;
      stripes_used.store(from.next, std::memory_order_relaxed);
    }
    // After a fork, places of threads that the child does not have stay taken. A new thread with
    // the pointer of one of them gets that one's stripe, which no other thread has.
    Place& place = place_of(thread_pointer());
    if (place.thread != 0) return;
    place.stripe = stripe;
    place.thread = thread_pointer();
  }
  ~Lease() {
    lease_ended = true;
    Place& place = place_of(thread_pointer());
    if (place.thread == thread_pointer()) place.thread = 0;
    if (stripe == kSharedStripe) return;
    Pool& to = pool();
    MutexLock lock(to.mutex);
    to.free.push_back(stripe);
  }
};

}  // namespace

size_t lease_stripe() {
  if (lease_ended) return kSharedStripe;
  thread_local const Lease lease;
  return lease.stripe;
}

}  // namespace nvcache::striped_internal
