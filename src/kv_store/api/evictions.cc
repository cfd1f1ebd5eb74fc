#include <new>
#include <utility>

#include "base/mutex.h"
#include "nvcache/kv_evictions.h"

namespace nvcache {

struct KvEvictions::Queue {
  Mutex mutex;
  Taken taken NVCACHE_GUARDED_BY(mutex);
};

KvEvictions::KvEvictions() : queue_(std::make_unique<Queue>()) {}

KvEvictions::~KvEvictions() = default;

void KvEvictions::want(bool wanted) {
  wanted_.store(wanted, std::memory_order_relaxed);
  if (!wanted) (void)take();
}

void KvEvictions::add(std::string_view key, uint64_t value_bytes, uint32_t expires_s) {
  const MutexLock lock(queue_->mutex);
  Taken& taken = queue_->taken;
  if (taken.items.size() >= kMostItems) {
    ++taken.lost;
    return;
  }
  try {
    taken.items.push_back({std::string(key), value_bytes, expires_s});
  } catch (const std::bad_alloc&) {
    ++taken.lost;
  }
}

KvEvictions::Taken KvEvictions::take() {
  const MutexLock lock(queue_->mutex);
  return std::exchange(queue_->taken, {});
}

}  // namespace nvcache
