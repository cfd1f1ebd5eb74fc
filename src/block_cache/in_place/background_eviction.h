// Background eviction: where the eviction policy works in passes (lfru), decides when a pass
// starts and when it stops.
//
//   a pass starts   when more than 95% of the space is taken, or when a put was refused that still
//                   finds no room: fragmentation can leave no free run long enough at any fill
//   and stops       when 90% or less is taken and that put would find room, when admission forbids
//                   eviction, or when the policy names no more victims. For fragmentation alone a
//                   pass gives up at most 5% of the blocks
//
// *Writes Hurt* (section 3.1) gives no numbers; 95% is WiredTiger's full_target, 90% is ours.
//
// Cost of a pass: what the policy's begin_pass() costs, once for each shard.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "block_cache/index/admission_control.h"
#include "block_cache/index/shard_set.h"
#include "block_cache/io/space.h"

namespace nvcache {

// One thread at a time calls run_pass(). note_refused() is thread-safe. Everything else in the
// cache may go on.
class BackgroundEviction {
 public:
  // Null unless the shards' policies evict in passes. All that is given must outlive it.
  static std::unique_ptr<BackgroundEviction> make(ShardSet& shards, AdmissionControl& admission,
                                                  const Space& space, Clock& clock);

  // Tells the policies the time, and evicts if the space is nearly full. Call it regularly.
  void run_pass();

  // A put of that many bytes found no room. Costs a load; a store too if no larger one was refused.
  void note_refused(uint32_t size_bytes) {
    uint32_t largest = refused_bytes_.load(std::memory_order_relaxed);
    while (largest < size_bytes &&
           !refused_bytes_.compare_exchange_weak(largest, size_bytes, std::memory_order_relaxed)) {
    }
  }

 private:
  BackgroundEviction(ShardSet& shards, AdmissionControl& admission, const Space& space,
                     Clock& clock)
      : shards_(shards), admission_(admission), space_(space), clock_(clock) {}

  // The share of its blocks that each shard may have to give up; 0 if there is room.
  double share_to_evict(uint32_t refused_bytes) const;
  bool wants_more_room(uint32_t refused_bytes) const;

  ShardSet& shards_;
  AdmissionControl& admission_;
  const Space& space_;
  Clock& clock_;
  std::atomic<uint32_t> refused_bytes_{0};  // the largest refused put; 0: none since the last pass
};

}  // namespace nvcache
