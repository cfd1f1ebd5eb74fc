// Passes of an eviction policy that works in the background (lfru.cc): blocks leave in passes of a
// maintenance thread only, and a put that finds no room is refused. The cache decides when a pass
// starts and when it stops (block_cache/background_eviction.h).
//
// Caller-locked: the shard that asks holds its own lock.
#pragma once

#include <cstdint>

#include "policy/eviction/residents.h"

namespace nvcache {

class EvictionPasses {
 public:
  virtual ~EvictionPasses() = default;

  // Starts a pass at `now_ns` that may have to free `share` [0..1] of the shard's blocks. The
  // policy's next_victim() then yields the victims of that pass. Share 0 frees nothing: it tells
  // the policy the time, so call it regularly.
  virtual void begin_pass(const Residents& residents, uint64_t now_ns, double share) = 0;
};

}  // namespace nvcache
