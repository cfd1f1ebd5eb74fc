// The tiered cache: the first tier holds objects on the heap, the lower tiers are block
// caches, and blocks move between them.
//
// A promotion inserts the block in the upper tier before it erases it from the lower one. A
// demotion removes the block from the upper tier before it inserts it in the lower one. In
// between, a lookup may miss the block or find it in both tiers. But no lookup ever finds a
// value that was replaced:
//
//   Every key has a generation (keys share them by hash), which is even while no change is
//   under way. insert() and erase() make it odd, erase the key from all lower tiers, and
//   make it even again, all with the key's shard of the first tier locked. A move reads the
//   generation (its token) before it reads the block, and stops if the token is odd. A lower
//   tier, with its own shard locked, inserts the block only if the generation still equals
//   the token. So a change either finds the moved block and erases it, or the lower tier
//   refuses it.
//
// An evicted object may wait in a queue for its demotion (DemotionQueue), together with the
// token of its eviction. A lookup takes it back from there if the token is still valid.
//
// Lock order: a shard of the first tier, a shard of a lower tier, that tier's space.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "nvcache/status_or.h"
#include "nvcache/tiered_cache.h"
#include "policy/placement/placement_policy.h"
#include "tiered_cache/demotion_queue.h"
#include "tiered_cache/lower_tier.h"
#include "tiered_cache/miss_timer.h"
#include "tiered_cache/object_tier.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache {

// Thread-safe.
class TieredCacheImpl final : public TieredCache, public TieredCacheControl, private LowerTiers {
 public:
  // `clock` is for emulated media, and must outlive the cache. `open_medium` opens those of its own
  // lower tiers, whichever their specifications name; a shared tier opens its own.
  [[nodiscard]] static StatusOr<std::unique_ptr<TieredCacheImpl>> make(
      const TieredConfig& config, std::shared_ptr<ObjectCodec> codec, Clock& clock = system_clock(),
      const OpenMedium& open_medium = open_configured_medium);
  ~TieredCacheImpl() override;

  Status insert(std::string_view key, const Object& object, Priority priority, Handle** handle,
                bool* replaced = nullptr, MissToken token = {}) override;
  MissToken token(std::string_view key) const override;
  Handle* standalone(std::string_view key, const Object& object,
                     bool beyond_limit = false) override;
  Handle* lookup(std::string_view key, const MakeObject* make,
                 Caller caller = Caller::kForeground) override;
  const Object& object(const Handle* handle) const override { return handle->object; }
  void ref(Handle* handle) override;
  bool release(Handle* handle, bool erase_if_last = false) override;
  void erase(std::string_view key) override;
  void erase_gone_files(std::span<const uint64_t> files) override;
  TieredStats stats() const override;
  TieredCacheControl* control() override { return this; }

  // TieredCacheControl
  Limits limits() const override { return {objects_.capacity_bytes(), objects_.strict()}; }
  void set_capacity(size_t bytes) override;
  void set_strict(bool strict) override { objects_.set_strict(strict); }
  FirstTierUse use() const override;
  Held held(const Handle* handle) const override { return {handle->key(), handle->used_bytes}; }
  void for_each(FunctionRef<void(std::string_view key, const Object&)> visit) override;
  void erase_unreferenced() override;
  void drain() override;

 private:
  // Receives what one lower tier evicts, and offers it to the tiers below.
  class Demoter;

  TieredCacheImpl(const TieredConfig& config, std::shared_ptr<ObjectCodec> codec, Clock& clock,
                  std::unique_ptr<PlacementPolicy> placement, const OpenMedium& open_medium,
                  std::unique_ptr<TierShare> share);  // of the last tier; null: it is its own

  // LowerTiers: the first two are called with the key's shard of the first tier locked.
  uint32_t token(uint64_t hash) const override;
  void supersede(std::string_view key, uint64_t hash) override;
  // Queues or demotes an evicted entry, and destroys another.
  void end_removed(ObjectEntry* entry) override;

  std::atomic<uint32_t>& generation_of(uint64_t hash) { return generations_[place_of(hash)]; }
  size_t place_of(uint64_t hash) const {
    return objects_.number_of(hash) * generations_per_shard_ + hash % generations_per_shard_;
  }
  // False while a change of the key is under way: its block must not move then.
  static bool at_rest(uint32_t token) { return token % 2 == 0; }

  Status insert_lower(ObjectEntry* entry, size_t tier, Handle** handle, const MissToken& token);
  // Of an insertion whose token is outdated.
  Status refuse_stale(ObjectEntry* entry, Handle** handle);
  // Makes an object from a block of lower tier `tier`: promoted to the first tier, or only
  // for this lookup.
  ObjectEntry* serve(std::string_view key, uint64_t hash, size_t tier, Lookup found,
                     uint32_t references, uint32_t token, const MakeObject& make);
  // Moves a block of a lower tier one tier up. True if the entry is resident and held now.
  bool promote(ObjectEntry* entry, size_t tier, ByteView saved, uint32_t token);
  bool may_promote(uint64_t hash, size_t tier, uint32_t references);
  uint32_t threshold_of(size_t tier) const;
  // Offers a block to a tier and, while it is refused, to the tiers below it.
  bool offer(const BlockKey& key, ByteView block, size_t tier, Arrival arrival, uint32_t token);
  bool offer_object(const ObjectEntry& entry, size_t tier, Arrival arrival, uint32_t token);
  bool can_move(const ObjectEntry& entry) const;
  // Tells the lower tiers how long the read of a block took that comes in after a miss.
  void note_read(uint64_t hash) {
    if (lower_.empty()) return;
    const std::optional<uint64_t> took_ns = miss_timer_.inserted(hash);
    if (!took_ns) return;
    for (const auto& tier : lower_) tier->note_storage_read(*took_ns);
  }
  void demote(const ObjectEntry& entry);
  // Makes the key's object resident and held again if it waits in the queue; else null.
  ObjectEntry* take_back(std::string_view key, uint64_t hash, Caller caller);
  void end(ObjectEntry* entry);

  const TieredConfig config_;
  const std::shared_ptr<ObjectCodec> codec_;
  const std::unique_ptr<PlacementPolicy> placement_;
  ObjectTier objects_;
  const size_t generations_per_shard_;
  std::vector<std::atomic<uint32_t>> generations_;
  std::vector<std::unique_ptr<Demoter>> demoters_;  // demoters_[i] below lower tier i
  std::vector<std::unique_ptr<LowerTier>> lower_;   // lower_[i] is tier i + 1
  const MissTimer miss_timer_;
  std::unique_ptr<DemotionQueue> queue_;  // null: who pushes a block out moves it
};

}  // namespace nvcache
