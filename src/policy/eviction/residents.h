// What an eviction policy may ask about the blocks of its shard. Caller-locked: the shard that
// calls the policy holds its own lock.
#pragma once

#include <cstdint>

namespace nvcache {

// Blocks are named by their slot, a small integer that the shard reuses after a block left.
class Residents {
 public:
  virtual ~Residents() = default;
  virtual uint32_t slot_limit() const = 0;          // all slots in use are below this
  virtual bool evictable(uint32_t slot) const = 0;  // holds a block, and nobody pins it
  // Of the block in a slot below slot_limit(), or of the one that left it last.
  virtual uint64_t key_hash(uint32_t slot) const = 0;
};

}  // namespace nvcache
