// A lower tier of a TieredCache: a block store, its own or one that it shares, opened when the
// first block goes there, and the counts of the blocks that came and went. One with restart=warm is
// opened with the cache: a key that is replaced before its block has come back must stay away.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "block_cache/store/block_store.h"
#include "nvcache/status.h"
#include "nvcache/tiered_cache.h"
#include "tiered_cache/key_space.h"
#include "tiered_cache/late_block_store.h"
#include "tiered_cache/shared_tiers.h"
#include "tiered_cache/tier_counters.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache {

// Why a block enters a tier.
enum class Arrival : uint8_t { kNew, kDemoted, kPromoted };

// Thread-safe.
class LowerTier {
 public:
  struct Use {
    bool count_references = false;
    uint64_t form = 0;  // of the blocks: ObjectCodec::form()
  };
  // `sink` receives what the tier evicts, by its key inside; if null, evicted blocks are dropped.
  // `clock` and `sink` must outlive the tier.
  LowerTier(const TierConfig& config, Clock& clock, const Use& use, EvictionSink* sink,
            OpenMedium open_medium = open_configured_medium);
  // A part in a tier that other caches use, too. It has no tier below it.
  LowerTier(const TierConfig& config, std::unique_ptr<TierShare> share, const Use& use);

  // Of a tier with restart=warm: opens it. Blocks come back in the background.
  [[nodiscard]] Status open_if_warm();

  // Offers a block whose key had the token `expected` when the move began; refused if the
  // token (*generation*) has changed. True if the tier has the block now.
  bool put(const BlockKey& key, ByteView block, Arrival arrival,
           const std::atomic<uint32_t>& generation, uint32_t expected);

  // A miss while the tier is not open. A foreground hit counts as a reference to the block;
  // *references is the number that the block has had.
  Lookup lookup(const BlockKey& key, Caller caller, uint32_t* references);

  // No block of the key from before a restart comes back, either.
  void erase(const BlockKey& key);
  // The key has a value elsewhere. Where keys are immutable it is the same one, and may come back.
  void supersede(const BlockKey& key);
  void erase_gone_files(std::span<const uint64_t> files);
  // Whether a block that supersede() did not find may still come back.
  bool may_return() const {
    const BlockStore* const store = opened();
    return config_.cache.immutable_keys && store != nullptr && store->recovering();
  }
  void clear();
  void drain();
  // How long a read of the engine's storage took that no tier served.
  void note_storage_read(uint64_t took_ns) {
    if (BlockStore* const store = opened()) store->note_storage_read(took_ns);
  }
  void count_dropped() { counts_.add(TierCount::kDropped, 1); }

  // A key of a block that the tier evicts, as the caller gave it.
  BlockKey outside(const BlockKey& inside) const { return keys_.outside(inside); }
  uint32_t own_threshold() const { return config_.threshold; }
  // The used share of the medium's space; 0 while the tier is not open.
  double used_share() const;
  // See LateBlockStore.
  bool was_tried_soon() { return store_.was_tried_soon(); }
  TierStats stats() const;

 private:
  BlockStore* opened() const { return store_.opened(); }

  const TierConfig config_;
  const bool count_references_;
  const bool has_sink_;
  const std::unique_ptr<LateBlockStore> own_;  // null: it is shared
  const std::unique_ptr<TierShare> share_;     // null: it is its own
  LateBlockStore& store_;
  const KeySpace keys_;
  TierCounters counts_;
};

}  // namespace nvcache
