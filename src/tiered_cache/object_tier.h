// The first tier of a TieredCache: an engine's objects on the heap, in shards by hash.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "tiered_cache/object_shard.h"

namespace nvcache {

// Thread-safe. ObjectShard says what each shard does.
class ObjectTier {
 public:
  struct Options {
    ObjectShard::Options whole;  // capacity of all shards together
    int shard_bits = -1;         // -1: one shard for each 512 KiB, up to 64
  };

  ObjectTier(const Options& options, LowerTiers* lower_tiers);

  ObjectShard& shard_of(uint64_t hash) { return *shards_[number_of(hash)]; }
  size_t shards() const { return shards_.size(); }
  // Which shard a hash belongs to: its upper bits.
  size_t number_of(uint64_t hash) const {
    return shard_bits_ == 0 ? 0 : hash >> (64 - shard_bits_);
  }

  void set_capacity(size_t capacity_bytes, RemovedEntries* removed);
  size_t capacity_bytes() const { return capacity_bytes_.load(std::memory_order_relaxed); }
  void set_strict(bool strict);
  bool strict() const { return strict_.load(std::memory_order_relaxed); }

  // The sum over all shards, which are locked one after another.
  ObjectShard::Use use() const;
  void erase_idle(RemovedEntries* removed);

  // Calls visit(entry) for every resident entry, without a lock, and then release(entry),
  // which must drop the reference that keeps the entry alive during the visit.
  void for_each(absl::FunctionRef<void(ObjectEntry*)> visit,
                absl::FunctionRef<void(ObjectEntry*)> release);

 private:
  size_t share_of(size_t capacity_bytes) const {
    return (capacity_bytes + shards_.size() - 1) / shards_.size();
  }

  int shard_bits_;
  std::atomic<size_t> capacity_bytes_;
  std::atomic<bool> strict_;
  ObjectCounts counts_;
  std::vector<std::unique_ptr<ObjectShard>> shards_;
};

}  // namespace nvcache
