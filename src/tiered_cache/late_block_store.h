// A block store that is opened when it is first wanted: for the first block, or, if it comes back
// after a restart, with the cache whose tier it is.
//
// A medium that cannot be opened is not tried again: the store stays off, and problem() says why.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "block_cache/api/config.h"
#include "block_cache/store/block_store.h"
#include "medium/medium.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Opens the medium of a store, which runs on the clock. Called once for each store, by any thread.
using OpenMedium =
    std::function<StatusOr<std::unique_ptr<Medium>>(const Config& config, Clock& clock)>;

// The one that the configuration names.
[[nodiscard]] StatusOr<std::unique_ptr<Medium>> open_configured_medium(const Config& config,
                                                                       Clock& clock);

// Thread-safe.
class LateBlockStore {
 public:
  // `clock`, and the sink of `options`, must outlive the store.
  LateBlockStore(const Config& config, Clock& clock, const BlockStore::Options& options,
                 OpenMedium open_medium = open_configured_medium)
      : config_(config), clock_(clock), options_(options), open_medium_(std::move(open_medium)) {}

  // Null if it is not open.
  BlockStore* opened() const { return store_.load(std::memory_order_seq_cst); }
  // Opens it first, or waits for the thread that does. Null if the medium cannot be opened, or
  // there is no memory.
  BlockStore* open();
  // As open(), and null while another thread opens it: that may take long, and is not waited for.
  BlockStore* open_unless_busy();
  // Waits until it was tried, or until kMostWait after the first call of this: false from then on.
  // A tier in memory opens in a millisecond, a device may take long.
  static constexpr std::chrono::milliseconds kMostWait{20};
  bool was_tried_soon();
  // Whether it is open, or stays off.
  bool was_tried() const { return opened() != nullptr || off_.load(std::memory_order_acquire); }

  const Config& config() const { return config_; }
  // Why the medium could not be opened; OK if it could, or was not tried.
  Status problem() const { return off_.load(std::memory_order_acquire) ? problem_ : ok_status(); }

 private:
  BlockStore* open_claimed();  // by opening_
  void open_now();             // may throw std::bad_alloc

  const Config config_;
  Clock& clock_;
  const BlockStore::Options options_;
  const OpenMedium open_medium_;
  std::atomic<bool> opening_{false};
  std::atomic<std::chrono::steady_clock::rep> first_wait_{0};
  std::unique_ptr<BlockStore> owned_;
  std::atomic<BlockStore*> store_{nullptr};
  Status problem_;  // set before off_
  std::atomic<bool> off_{false};
};

}  // namespace nvcache
