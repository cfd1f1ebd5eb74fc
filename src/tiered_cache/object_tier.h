// The first tier of a TieredCache: an engine's objects on the heap, in shards by hash, which share
// the tier's capacity (SharedRoom).
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "nvcache/function_ref.h"
#include "tiered_cache/object_shard.h"

namespace nvcache {

// Thread-safe. ObjectShard says what each shard does.
class ObjectTier final : private AllShards {
 public:
  struct Options {
    SharedRoom::Options room;  // its shard_bits -1: one shard for each 512 KiB, up to 64
    bool charge_metadata = true;
  };

  ObjectTier(const Options& options, LowerTiers* lower_tiers);

  ObjectShard& shard_of(uint64_t hash) { return *shards_[number_of(hash)]; }
  size_t shards() const { return shards_.size(); }
  // Which shard a hash belongs to: its upper bits.
  size_t number_of(uint64_t hash) const {
    return shard_bits_ == 0 ? 0 : hash >> (64 - shard_bits_);
  }

  void set_capacity(size_t capacity_bytes, RemovedEntries* removed);
  size_t capacity_bytes() const { return room_.capacity_bytes(); }
  void set_strict(bool strict) { room_.set_strict(strict); }
  bool strict() const { return room_.strict(); }

  TierCounters& counts() { return counts_; }
  const TierCounters& counts() const { return counts_; }
  // The sum over all shards. Takes no lock.
  ObjectShard::Use use() const;
  void erase_idle(RemovedEntries* removed);

  // Calls visit(entry) for every resident entry, without a lock, and then release(entry),
  // which must drop the reference that keeps the entry alive during the visit.
  void for_each(FunctionRef<void(ObjectEntry*)> visit, FunctionRef<void(ObjectEntry*)> release);

 private:
  bool evict_beyond_parts(RemovedEntries* removed) override;

  const int shard_bits_;
  SharedRoom room_;
  TierCounters counts_;
  std::atomic<size_t> turn_{0};  // the shard to ask first; one that was asked lately comes last
  std::vector<std::unique_ptr<ObjectShard>> shards_;
};

}  // namespace nvcache
