// The tiered cache: objects on the heap above block caches, and the moves between them.
//
// A block moves by being entered where it goes before (upwards) or after (downwards) it
// left where it was. In between a lookup may miss it, or find it in both places; it is
// never found nowhere for long, and a value that was replaced never comes back:
//
//   Every key has a generation, even while at rest. insert() and erase() make it odd,
//   erase the key from all lower tiers and make it even again, with the key's shard of the
//   first tier locked. A move reads it before it looks at the block, goes on only
//   if it is even, and a lower tier enters the block only if it still is the same, with
//   its own shard locked. So a move is either seen and erased, or refused.
//
// What leaves the first tier may wait in a queue before it moves (DemotionQueue), with the
// token it left with: a lookup that finds it there, and it alone, takes it back.
//
// Lock order: shard of the first tier, shard of a lower tier, its space.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "nvcache/tiered_cache.h"
#include "policy/placement/placement_policy.h"
#include "tiered_cache/demotion_queue.h"
#include "tiered_cache/lower_tier.h"
#include "tiered_cache/object_tier.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache {

// Thread-safe.
class TieredCacheImpl final : public TieredCache, public TieredCacheControl, private Below {
 public:
  // `clock` is for emulated media, and must outlive the cache.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<TieredCacheImpl>> make(
      const TieredConfig& config, std::shared_ptr<ObjectCodec> codec,
      Clock& clock = system_clock());
  ~TieredCacheImpl() override;

  absl::Status insert(std::string_view key, const Object& object, Priority priority,
                      Handle** handle, bool* replaced = nullptr) override;
  Handle* standalone(std::string_view key, const Object& object) override;
  Handle* lookup(std::string_view key, const MakeObject* make,
                 Caller caller = Caller::kForeground) override;
  const Object& object(const Handle* handle) const override { return handle->object; }
  void ref(Handle* handle) override;
  bool release(Handle* handle, bool erase_if_last = false) override;
  void erase(std::string_view key) override;
  TieredStats stats() const override;
  TieredCacheControl* control() override { return this; }

  // TieredCacheControl
  Limits limits() const override { return {objects_.capacity_bytes(), objects_.strict()}; }
  void set_capacity(size_t bytes) override;
  void set_strict(bool strict) override { objects_.set_strict(strict); }
  FirstTierUse use() const override;
  Held held(const Handle* handle) const override { return {handle->key(), usage_of(*handle)}; }
  void for_each(absl::FunctionRef<void(std::string_view key, const Object&)> visit) override;
  void erase_unreferenced() override;
  void drain() override;

 private:
  // Takes what one lower tier evicts, for those below it.
  class Chute;

  TieredCacheImpl(const TieredConfig& config, std::shared_ptr<ObjectCodec> codec, Clock& clock,
                  std::unique_ptr<PlacementPolicy> placement);

  // Below; the key's shard of the first tier is locked.
  uint32_t token(uint64_t hash) const override;
  void supersede(std::string_view key, uint64_t hash) override;

  std::atomic<uint32_t>& generation_of(uint64_t hash) { return generations_[slot_of(hash)]; }
  size_t slot_of(uint64_t hash) const {
    return objects_.number_of(hash) * generations_per_shard_ + hash % generations_per_shard_;
  }
  // False: a change of the key is under way, and its block must not move.
  static bool at_rest(uint32_t token) { return token % 2 == 0; }

  absl::Status insert_below(ObjectEntry* entry, size_t tier, Handle** handle);
  // Serves a block that lower tier `tier` holds: in the first tier from now on, or made
  // anew for this lookup.
  ObjectEntry* serve(std::string_view key, uint64_t hash, size_t tier, Lookup found,
                     uint32_t references, uint32_t token, const MakeObject& make);
  bool climb(ObjectEntry* entry, size_t tier, ByteView saved, uint32_t token);
  bool may_promote(uint64_t hash, size_t tier, uint32_t references);
  uint32_t threshold_of(size_t tier) const;
  // Offers a block to a tier or, where it is refused, to those below it.
  bool offer(const BlockKey& key, ByteView block, size_t tier, Arrival arrival, uint32_t token);
  bool offer_object(const ObjectEntry& entry, size_t tier, Arrival arrival, uint32_t token);
  bool can_move(const ObjectEntry& entry) const;
  size_t usage_of(const ObjectEntry& entry) const;
  // Ends entries: those that were evicted go below first, or into the queue.
  void finish(Leaving* leaving);
  void move_below(const ObjectEntry& entry);
  // Null unless the key's object waits in the queue; then it is resident again, and held.
  ObjectEntry* take_back(std::string_view key, uint64_t hash, Caller caller);
  void end(ObjectEntry* entry);

  const TieredConfig config_;
  const std::shared_ptr<ObjectCodec> codec_;
  const std::unique_ptr<PlacementPolicy> placement_;
  ObjectTier objects_;
  const size_t generations_per_shard_;
  std::vector<std::atomic<uint32_t>> generations_;
  std::vector<std::unique_ptr<Chute>> chutes_;     // chutes_[i] below lower tier i
  std::vector<std::unique_ptr<LowerTier>> lower_;  // lower_[i] is tier i + 1
  std::atomic<uint64_t> hits_below_{0};
  std::atomic<uint64_t> dropped_{0};      // from the first tier
  std::unique_ptr<DemotionQueue> queue_;  // null: who pushes a block out moves it
};

}  // namespace nvcache
