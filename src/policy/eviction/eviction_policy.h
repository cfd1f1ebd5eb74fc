// Chooses which block leaves a shard of the cache next. Each policy is a file of this folder and a
// row of table.h.
//
// Blocks are named by their slot (residents.h). One policy object serves one shard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "policy/eviction/contest.h"
#include "policy/eviction/eviction_passes.h"
#include "policy/eviction/residents.h"

namespace nvcache {

// on_hit() is thread-safe and takes no lock. For all else the caller holds the shard's lock.
// on_hit() may come for a slot that is being removed at that moment.
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

  // Whether the block is worth a second write when the part of the medium that it lies in is
  // emptied whole; if not, it leaves. A block that is kept and not used again leaves in the end.
  virtual bool keeps(uint32_t slot) = 0;

  // The policy's contest for room, owned by the policy. Null: any block may displace any other.
  virtual Contest* contest() { return nullptr; }

  // The policy's passes, owned by the policy. Null: blocks leave as soon as a put needs room.
  virtual EvictionPasses* passes() { return nullptr; }

  // DRAM held by the policy beyond sizeof(*this).
  virtual uint64_t metadata_bytes() const = 0;
};

// Makes the policy that `spec` names; table.h lists them. `max_slots` bounds the slots that will
// ever be used; 0 is enough to check a specification. INVALID_ARGUMENT names what was given and
// what is allowed.
[[nodiscard]] absl::StatusOr<std::unique_ptr<EvictionPolicy>> make_eviction(std::string_view spec,
                                                                            uint32_t max_slots);

}  // namespace nvcache
