#include "tiered_cache/late_block_store.h"

#include <new>
#include <thread>
#include <utility>

namespace nvcache {

StatusOr<std::unique_ptr<Medium>> open_configured_medium(const Config& config, Clock& clock) {
  return open_medium(config.medium, options_of_medium(config), clock);
}

BlockStore* LateBlockStore::open() {
  while (!was_tried() && opening_.exchange(true)) opening_.wait(true);
  return was_tried() ? opened() : open_claimed();
}

BlockStore* LateBlockStore::open_unless_busy() {
  if (BlockStore* const store = opened(); store != nullptr) return store;
  if (was_tried() || opening_.exchange(true)) return opened();
  return open_claimed();
}

bool LateBlockStore::was_tried_soon() {
  using Time = std::chrono::steady_clock;
  while (!was_tried()) {
    const Time::duration now = Time::now().time_since_epoch();
    Time::rep first = 0;
    if (first_wait_.compare_exchange_strong(first, now.count())) first = now.count();
    if (now - Time::duration(first) > kMostWait) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

// Another thread may have opened it before the claim.
BlockStore* LateBlockStore::open_claimed() {
  try {
    if (!was_tried()) open_now();
  } catch (const std::bad_alloc&) {  // the next call tries again
  }
  opening_ = false;
  opening_.notify_all();
  return opened();
}

void LateBlockStore::open_now() {
  const auto fail = [this](const Status& status) {
    problem_ = status;
    off_.store(true, std::memory_order_release);
  };
  StatusOr<std::unique_ptr<Medium>> medium = open_medium_(config_, clock_);
  if (!medium.ok()) return fail(medium.status());
  StatusOr<std::unique_ptr<BlockStore>> store =
      BlockStore::make(config_, *std::move(medium), clock_, options_);
  if (!store.ok()) return fail(store.status());
  owned_ = *std::move(store);
  // Sequentially consistent, as are the change of the generation in TieredCacheImpl::supersede(),
  // and the reads of both: opened(), Shard::reserve(). Either a change sees this store and erases
  // the key from it, or a put here, by any thread that sees this store, sees the changed
  // generation.
  store_.store(owned_.get(), std::memory_order_seq_cst);
}

}  // namespace nvcache
