// Chooses which block leaves the cache next. Each policy is a file of this
// folder; `make_eviction` makes one by name.
//
// Blocks are named by their slot, a small integer that the cache reuses after
// on_remove(). One policy object serves one shard of the cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace nvcache {

// What a policy may ask about the blocks of its shard.
class Residents {
 public:
  virtual ~Residents() = default;
  virtual uint32_t slot_limit() const = 0;          // all slots in use are below this
  virtual bool evictable(uint32_t slot) const = 0;  // holds a block, and nobody pins it
};

// on_hit() is thread-safe and takes no lock; for all else the caller holds the
// shard's lock. on_hit() may come for a slot that is just being removed.
class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;

  // `key_hash` identifies the block to policies that remember what is not in the cache.
  virtual void on_insert(uint32_t slot, uint64_t key_hash) = 0;
  virtual void on_hit(uint32_t slot) = 0;
  virtual void on_remove(uint32_t slot, uint64_t key_hash, bool evicted) = 0;

  // The next block to evict, or nothing if all are pinned or worth keeping.
  // The caller either removes it (on_remove(.., true)) or leaves it be.
  virtual std::optional<uint32_t> next_victim(const Residents& residents) = 0;

  // True where on_offer() must be called for every block that is offered and not in the
  // cache, admitted or not, and outranks_victim() before another leaves for its sake: whether
  // it is worth more than one that may leave, which next_victim() then names; true if the
  // shard is empty.
  virtual bool counts_offers() const { return false; }
  virtual void on_offer(uint64_t key_hash) { (void)key_hash; }
  virtual bool outranks_victim(uint64_t key_hash, const Residents&) {
    (void)key_hash;
    return true;
  }

  // True where blocks leave only in passes of the maintenance thread (lfru): a
  // put that finds no room is then refused instead of evicting.
  virtual bool evicts_in_background() const { return false; }

  // Starts a pass at `now_ns` that may have to free `share` [0..1] of the
  // shard's blocks: next_victim() then yields that pass's victims.
  // Share 0 frees nothing: it tells the policy the time, so call it regularly.
  virtual void begin_pass(const Residents&, uint64_t now_ns, double share) {
    (void)now_ns;
    (void)share;
  }

  // DRAM held by the policy beyond sizeof(*this).
  virtual uint64_t metadata_bytes() const = 0;
};

// Makes one policy by name: none | lru | clock | lfru[(WINDOW_SECONDS)] | s3fifo |
// tinylfu[(PERIOD)]. `max_slots` bounds the slots that will ever be used. INVALID_ARGUMENT names
// what was given and what is allowed. Check a spec once with max_slots = 0.
[[nodiscard]] absl::StatusOr<std::unique_ptr<EvictionPolicy>> make_eviction(std::string_view spec,
                                                                            uint32_t max_slots);

}  // namespace nvcache
