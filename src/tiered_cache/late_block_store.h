// A block store that is opened when it is first wanted: for the first block, or, if it comes back
// after a restart, with the cache whose tier it is.
//
// A medium that cannot be opened is not tried again: the store stays off, and problem() says why.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "block_cache/block_store.h"
#include "block_cache/config.h"
#include "medium/medium.h"

namespace nvcache {

// Opens the medium of a store, which runs on the clock. Called once for each store, by any thread.
using OpenMedium =
    std::function<absl::StatusOr<std::unique_ptr<Medium>>(const Config& config, Clock& clock)>;

// The one that the configuration names.
[[nodiscard]] absl::StatusOr<std::unique_ptr<Medium>> open_configured_medium(const Config& config,
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
  // Opens it first. Null if the medium cannot be opened, or there is no memory.
  BlockStore* open();

  const Config& config() const { return config_; }
  // Why the medium could not be opened; OK if it could, or was not tried.
  absl::Status problem() const {
    return off_.load(std::memory_order_acquire) ? problem_ : absl::OkStatus();
  }

 private:
  void open_once();  // may throw std::bad_alloc

  const Config config_;
  Clock& clock_;
  const BlockStore::Options options_;
  const OpenMedium open_medium_;
  std::once_flag once_;
  std::unique_ptr<BlockStore> owned_;
  std::atomic<BlockStore*> store_{nullptr};
  absl::Status problem_;  // set before off_
  std::atomic<bool> off_{false};
};

}  // namespace nvcache
