// The lower tiers that caches of one process share by name: `tier=(name=shared,size=...)`.
//
// All caches that give the name have one block cache together, of one size, on one medium, with one
// admission and one eviction policy. It is opened when the first of them puts a block there (with
// restart=warm: when the first of them is opened), and closed when the last of them is closed: what
// it takes of DRAM and of the medium is given back then. A process that exits without closing its
// caches, as a Java program by System.exit, closes no tier either: that is a kill to a warm one,
// which comes back (keys are immutable), and a cold one's file is overwritten by the next.
//
// Each cache has a key space of its own (key_space.h): it finds, erases and clears its blocks
// alone. In a cold tier they go when the cache is closed, in one pass over the tier's metadata. In
// a warm one they stay, and the next process finds them under the same owner.
//
// A tier is on the clock of the system, whatever clock its caches have. Its name is kept for the
// life of the process, with the totals of its statistics: some hundred bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "nvcache/stats.h"
#include "nvcache/status_or.h"
#include "tiered_cache/key_space.h"
#include "tiered_cache/late_block_store.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache {

class SharedTier;  // of the process, by name

// One cache's part in a shared tier, from its opening to its end. Thread-safe.
class TierShare {
 public:
  // `owner` as TieredConfig::owner. Waits while the tier's last cache is being closed.
  // INVALID_ARGUMENT if the tier of that name is open with other settings, and says which; or if it
  // restarts warm, and there is no owner, another open cache has it, or keys are mutable.
  [[nodiscard]] static StatusOr<std::unique_ptr<TierShare>> join(const TierConfig& config,
                                                                 std::string_view owner);
  // Erases the cache's blocks from a cold tier, and closes the tier after its last cache. All pins
  // must be gone.
  ~TierShare();
  TierShare(const TierShare&) = delete;
  TierShare& operator=(const TierShare&) = delete;

  LateBlockStore& store() const { return *store_; }
  const KeySpace& keys() const { return keys_; }
  uint32_t users() const;
  // Erases the blocks of this cache. Those of a key space that another open cache has, too
  // (owner=*), stay.
  void clear();
  // Of all caches that have shared the tier since the process began; gauges are of what is open.
  Stats stats() const;

 private:
  explicit TierShare(std::shared_ptr<SharedTier> tier) : tier_(std::move(tier)) {}

  const std::shared_ptr<SharedTier> tier_;
  // Set once, by join().
  LateBlockStore* store_ = nullptr;
  KeySpace keys_;
};

}  // namespace nvcache
