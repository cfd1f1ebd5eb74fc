#include "tiered_cache/late_block_cache.h"

#include <new>
#include <utility>

#include "absl/status/statusor.h"
#include "medium/medium.h"

namespace nvcache {

BlockCacheImpl* LateBlockCache::open() {
  if (BlockCacheImpl* const cache = opened(); cache != nullptr) return cache;
  // An exception leaves the cache unopened, and the next call tries again.
  try {
    open_once();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return opened();
}

void LateBlockCache::open_once() {
  std::call_once(once_, [this] {
    const auto fail = [this](const absl::Status& status) {
      problem_ = status;
      off_.store(true, std::memory_order_release);
    };
    absl::StatusOr<std::unique_ptr<Medium>> medium =
        open_medium(config_.medium, options_of_medium(config_), clock_);
    if (!medium.ok()) return fail(medium.status());
    absl::StatusOr<std::unique_ptr<BlockCacheImpl>> cache =
        BlockCacheImpl::make(config_, *std::move(medium), clock_, tier_);
    if (!cache.ok()) return fail(cache.status());
    owned_ = *std::move(cache);
    // Sequentially consistent, as is the change of the generation in
    // TieredCacheImpl::supersede(): either that sees this cache and erases the key from it,
    // or the first put here, which sees this cache, sees the changed generation.
    cache_.store(owned_.get(), std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

}  // namespace nvcache
