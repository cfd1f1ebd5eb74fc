#include "tiered_cache/late_block_store.h"

#include <new>
#include <utility>

namespace nvcache {

absl::StatusOr<std::unique_ptr<Medium>> open_configured_medium(const Config& config, Clock& clock) {
  return open_medium(config.medium, options_of_medium(config), clock);
}

BlockStore* LateBlockStore::open() {
  if (BlockStore* const store = opened(); store != nullptr) return store;
  // An exception leaves the store unopened, and the next call tries again.
  try {
    open_once();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return opened();
}

void LateBlockStore::open_once() {
  std::call_once(once_, [this] {
    const auto fail = [this](const absl::Status& status) {
      problem_ = status;
      off_.store(true, std::memory_order_release);
    };
    absl::StatusOr<std::unique_ptr<Medium>> medium = open_medium_(config_, clock_);
    if (!medium.ok()) return fail(medium.status());
    absl::StatusOr<std::unique_ptr<BlockStore>> store =
        BlockStore::make(config_, *std::move(medium), clock_, options_);
    if (!store.ok()) return fail(store.status());
    owned_ = *std::move(store);
    // Sequentially consistent, as is the change of the generation in
    // TieredCacheImpl::supersede(): either that sees this store and erases the key from it,
    // or the first put here, which sees this store, sees the changed generation.
    store_.store(owned_.get(), std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

}  // namespace nvcache
