// A block cache that is opened when it is first wanted: for the first block, or, if it comes back
// after a restart, with the cache whose tier it is.
//
// A medium that cannot be opened is not tried again: the cache stays off, and problem() says why.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "base/clock.h"
#include "block_cache/block_cache_impl.h"
#include "block_cache/config.h"

namespace nvcache {

// Thread-safe.
class LateBlockCache {
 public:
  // `clock`, and the sink of `tier`, must outlive the cache.
  LateBlockCache(const Config& config, Clock& clock, BlockCacheImpl::TierOptions tier)
      : config_(config), clock_(clock), tier_(tier) {}

  // Null if it is not open.
  BlockCacheImpl* opened() const { return cache_.load(std::memory_order_seq_cst); }
  // Opens it first. Null if the medium cannot be opened, or there is no memory.
  BlockCacheImpl* open();

  const Config& config() const { return config_; }
  // Why the medium could not be opened; OK if it could, or was not tried.
  absl::Status problem() const {
    return off_.load(std::memory_order_acquire) ? problem_ : absl::OkStatus();
  }

 private:
  void open_once();  // may throw std::bad_alloc

  const Config config_;
  Clock& clock_;
  const BlockCacheImpl::TierOptions tier_;
  std::once_flag once_;
  std::unique_ptr<BlockCacheImpl> owned_;
  std::atomic<BlockCacheImpl*> cache_{nullptr};
  absl::Status problem_;  // set before off_
  std::atomic<bool> off_{false};
};

}  // namespace nvcache
