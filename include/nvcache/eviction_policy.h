// EvictionPolicy: chooses which block leaves a shard of a block cache next.
// Users bring their own by nvcache/policies.h; nvcache's own are in src/policy/eviction.
//
// A cache has many shards, and a policy object for each. Blocks are named by their slot, a small
// integer that the shard uses again after a block has left.
#pragma once

#include <cstdint>
#include <optional>

namespace nvcache {

// The questions that a policy may ask about the blocks of its shard. Caller-locked: the shard that
// calls the policy holds its own lock.
class Residents {
 public:
  virtual ~Residents() = default;
  virtual uint32_t slot_limit() const = 0;          // all slots in use are below this
  virtual bool evictable(uint32_t slot) const = 0;  // holds a block without pins
  // Returns the hash of the block in a slot below slot_limit(), or of the one that left it last.
  virtual uint64_t key_hash(uint32_t slot) const = 0;
};

// A contest for room: a block enters a full shard only if it is worth more than a block that
// would leave for it. A policy that knows what blocks are worth holds the contest
// (src/policy/eviction/tinylfu.cc); the cache asks it when a block is offered, and again before a
// block leaves. Caller-locked: the shard that asks holds its own lock.
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

// Passes of a policy that works in the background (src/policy/eviction/lfru.cc): blocks leave in
// passes of a maintenance thread only, and a put that finds no room is refused. The cache decides
// when a pass starts and when it stops. Caller-locked: the shard that asks holds its own lock.
class EvictionPasses {
 public:
  virtual ~EvictionPasses() = default;

  // Starts a pass at `now_ns` that may have to free `share` [0..1] of the shard's blocks. The
  // policy's next_victim() then yields the victims of that pass. Share 0 frees nothing: it tells
  // the policy the time, so call it regularly.
  virtual void begin_pass(const Residents& residents, uint64_t now_ns, double share) = 0;
};

// on_hit() is thread-safe and takes no lock: it runs inside lookups. It may come for a slot that
// is being removed at that moment. For all else the caller holds the shard's lock. Functions do
// not block and do not throw.
class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;

  // `key_hash` identifies the block to policies that remember what is not in the cache.
  virtual void on_insert(uint32_t slot, uint64_t key_hash) = 0;
  virtual void on_hit(uint32_t slot) = 0;
  virtual void on_remove(uint32_t slot, uint64_t key_hash, bool evicted) = 0;

  // The next block to evict, or nothing if all are pinned or worth keeping. The caller either
  // removes the block, by on_remove(.., true), or leaves it alone.
  virtual std::optional<uint32_t> next_victim(const Residents& residents) = 0;

  // Whether blocks ever leave for others.
  virtual bool evicts() const { return true; }

  // True to write the block again when its region of the medium is emptied; false to drop it. A
  // block that is kept and not used again leaves in the end.
  virtual bool keeps(uint32_t /*slot*/) { return false; }

  // The policy's contest for room, owned by the policy. Null: any block may displace any other.
  virtual Contest* contest() { return nullptr; }

  // The policy's passes, owned by the policy. Null: blocks leave as soon as a put needs room.
  virtual EvictionPasses* passes() { return nullptr; }

  // DRAM held by the policy beyond sizeof(*this).
  virtual uint64_t metadata_bytes() const = 0;
};

}  // namespace nvcache
