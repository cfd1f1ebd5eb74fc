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
  std::vector<size_t> free ABSL_GUARDED_BY(mutex);
  size_t next ABSL_GUARDED_BY(mutex) = 0;
};

Pool& pool() {
  static NeverDestroyed<Pool> shared;
  return *shared;
}

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
  }
  ~Lease() {
    own_number = kSharedStripe + 1;  // code that still runs on this thread shares one
    if (stripe == kSharedStripe) return;
    Pool& to = pool();
    MutexLock lock(to.mutex);
    to.free.push_back(stripe);
  }
};

}  // namespace

size_t lease_stripe() {
  thread_local const Lease lease;
  own_number = lease.stripe + 1;
  return lease.stripe;
}

}  // namespace nvcache::striped_internal
