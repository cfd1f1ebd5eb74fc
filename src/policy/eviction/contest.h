// A contest for room: a block enters a full shard only if it is worth more than a block that
// would leave for it. An eviction policy that knows what blocks are worth holds the contest
// (tinylfu.cc); the cache asks it when a block is offered, and again before a block leaves.
//
// Caller-locked: the shard that asks holds its own lock.
#pragma once

#include <cstdint>

#include "policy/eviction/residents.h"

namespace nvcache {

class Contest {
 public:
  virtual ~Contest() = default;

  // Counts an offer of a block that is not in the shard, whether it is admitted or not.
  // `key_hash` identifies the block.
  virtual void offer(uint64_t key_hash) = 0;

  // Whether the block is worth more than one that may leave. The policy's next_victim() then names
  // that one. True if the shard is empty.
  virtual bool outranks_victim(uint64_t key_hash, const Residents& residents) = 0;
};

}  // namespace nvcache
