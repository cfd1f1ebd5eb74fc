// Blocks on a medium, found by their keys: what the block cache and the lower tiers of a tiered
// cache are made of. A set of shards with the blocks' metadata, an admission policy over all, and a
// volume, where the bytes lie. The owner of the store says when a put is stale: BlockCacheImpl,
// with tokens of misses, or a LowerTier, with the tokens of its cache's keys.
//
// How a block comes in: the admission policy says yes; the volume finds room for it, evicting by
// the shards' policies where it must and may; the block is entered as filling; its bytes are
// written with no lock held (in place on byte-addressable media, by the write queue on devices,
// into an open region where the volume is in regions); it is published.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/hash.h"
#include "base/home_process.h"
#include "base/kept.h"
#include "block_cache/api/config.h"
#include "block_cache/api/counters.h"
#include "block_cache/index/admission_control.h"
#include "block_cache/index/gone_files.h"
#include "block_cache/index/key_generations.h"
#include "block_cache/index/shard_set.h"
#include "block_cache/index/volume.h"
#include "block_cache/io/block_reader.h"
#include "block_cache/io/medium_health.h"
#include "block_cache/store/read_batch.h"
#include "medium/metered.h"
#include "nvcache/admission_policy.h"
#include "nvcache/block_cache.h"
#include "nvcache/function_ref.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Thread-safe.
class BlockStore final : private Pin::Owner {
 public:
  // The needs of the owner.
  struct Options {
    bool tokens = false;            // token_of()
    bool count_references = false;  // add_reference()
    EvictionSink* sink = nullptr;   // gets what is evicted; must outlive the store
  };

  // A store on an open medium. It has no blocks before open(). REQUIRES: `clock` outlives it.
  BlockStore(const Config& config, std::unique_ptr<Medium> medium, Clock& clock,
             const Options& options, std::unique_ptr<AdmissionPolicy> admission);
  [[nodiscard]] Status open();
  // Makes and opens a store. INVALID_ARGUMENT, or an error of the medium.
  [[nodiscard]] static StatusOr<std::unique_ptr<BlockStore>> make(const Config& config,
                                                                  std::unique_ptr<Medium> medium,
                                                                  Clock& clock,
                                                                  const Options& options);
  ~BlockStore() override;  // REQUIRES: all pins are gone

  uint64_t hash_of(const BlockKey& key) const { return shards_.hash_of(key); }

  // BlockCache::lookup(), but a miss has no token. `hash` is the key's. *slot: the entry of a hit,
  // for add_reference().
  Lookup find(uint64_t hash, const BlockKey& key, const LookupOptions& options, uint32_t* slot);
  // find() of each, by the key's hash; blocks on a device are read side by side.
  void find_all(std::span<BlockLookup> lookups);
  bool reads_side_by_side() const {
    return reader_.reads() == Reads::kByCopy && medium_->traits().async != AsyncReads::kOff;
  }
  // Shard::add_reference() of the key's shard.
  uint32_t add_reference(uint64_t hash, uint32_t slot) {
    return shards_.of(hash).add_reference(slot);
  }
  // An erase from now on outdates the token. Only with Options::tokens.
  MissToken token_of(uint64_t hash) const { return generations_.token_of(hash); }
  Freshness since(uint64_t hash, const MissToken& token) {
    return {generations_.of(hash), token.generation};
  }

  // Whether a block may come in. A refusal is counted.
  Verdict judge(uint64_t hash, const BlockKey& key, uint64_t size_bytes, Origin origin);
  // Enters an admitted block. May still refuse; refusals are counted.
  Verdict enter(uint64_t hash, const BlockKey& key, ByteView block, const Freshness& fresh) {
    const Reason entered = volume_->enter(hash, key, block, fresh);
    return entered == Reason::kAdmitted ? Verdict::admit() : refuse(entered);
  }
  // judge(), then enter().
  Verdict put(const BlockKey& key, ByteView block, Origin origin, const Freshness& fresh);
  // Counts a refusal.
  Verdict refuse(Reason reason);

  // The functions of BlockCache of the same names.
  bool contains(const BlockKey& key) const;
  StatusOr<uint64_t> erase(const Blocks& blocks, Gone gone);
  bool erase(const BlockKey& key, Gone gone);  // kMayReturn, kForGood
  Status resize(uint64_t size_bytes);
  void drain() { volume_->drain(); }
  Stats stats() const;
  void set_dataset_size(uint64_t size_bytes) { admission_.set_dataset_size(size_bytes); }
  void note_storage_read(uint64_t took_ns) { admission_.note_storage_read(took_ns); }
  void note_compressed(uint64_t size_bytes) {
    counters_.add(Count::kCompressed, 1);
    counters_.add(Count::kCompressedBytes, size_bytes);
  }
  bool weighs_costs() const { return admission_.weighs_costs(); }

  // Removes every block, for good.
  void clear();
  // Removes the blocks whose keys match, and returns how many. One that the cache is moving on its
  // medium, or that has not come back yet after a restart, may stay. `matches` is called with a
  // shard locked. They may come back after a restart.
  uint64_t erase_matching(FunctionRef<bool(const BlockKey&)> matches);
  // Share of the space that is taken.
  double used_share() const;
  // Whether blocks from before a restart may still come back.
  bool recovering() const { return volume_->recovering(); }
  bool probing() const { return volume_->probe().busy(); }

  // One round of the maintenance thread: a pass of background eviction, where there is any.
  void maintain() { volume_->maintain(); }

 private:
  // A pin's handle is its entry's address: releasing it touches nothing else.
  static uint64_t handle_of(Entry& entry) { return reinterpret_cast<uint64_t>(&entry); }

  // The rest of find(), for hits that need more than a pin. Takes over the pin of `found`.
  Lookup serve(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
               const LookupOptions& options, uint32_t* slot);
  Lookup serve_pinned(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                      const LookupOptions& options);
  void count(const BlockKey& key, const LookupOptions& options, const Lookup& lookup);
  // Of find_all().
  std::unique_ptr<ReadBatch> take_batch() noexcept;
  void begin(BlockLookup& lookup, ReadBatch& batch);
  void end_all(ReadBatch& batch);
  void end(ReadBatch::Flight& flight, Fetch fetch);
  Lookup serve_copy(ByteView block, SharedBuffer buffer, const LookupOptions& options);
  Lookup serve_pending(uint64_t hash, const BlockKey& key, const LookupOptions& options,
                       uint32_t* slot);
  // A miss if there is no memory for the pin.
  static Lookup serve_buffer(SharedBuffer buffer, ByteView bytes);
  // Removes the block if the medium failed to read it.
  bool fetched(uint64_t hash, const PinnedBlock& found, Fetch outcome);
  void release(uint64_t handle) override;
  uint64_t erase_file(uint64_t file);
  uint64_t erase_gone_files(std::span<const uint64_t> files);

  const HomeProcess home_;
  const Config config_;
  const std::unique_ptr<MeteredMedium> medium_;
  Clock& clock_;
  Counters counters_;
  MediumHealth health_;
  BlockReader reader_;
  Refusals refused_;
  KeyGenerations generations_;  // kept for tokens
  GoneFiles gone_files_;
  AdmissionControl admission_;
  ShardSet shards_;
  std::unique_ptr<Volume> volume_;   // there once open() succeeded
  const Volume* pending_ = nullptr;  // the same, if it keeps blocks that are not live yet
  Kept<ReadBatch> batches_;
};

// In both faces: a hit in place is some dozen instructions beyond the shard's own, and a call of
// this would take 25 more.
[[gnu::always_inline]] inline Lookup BlockStore::find(uint64_t hash, const BlockKey& key,
                                                      const LookupOptions& options,
                                                      uint32_t* slot) {
  Shard& shard = shards_.of(hash);
  const bool background = options.caller == Caller::kBackground;
  Counters::Stripe& stripe = counters_.mine();
  const PinnedBlock found = shard.find_and_pin(hash, key);
  *slot = found.slot;
  if (found.found()) [[likely]] {
    shard.on_hit(found.slot);
    if (reader_.reads() == Reads::kInPlace && !options.copy_into) [[likely]] {
      const Extent extent = shards_.extent_of(found.word);
      const auto size_bytes = static_cast<uint32_t>(extent.size_bytes);
      stripe.add(background ? Count::kBackgroundHits : Count::kHits, 1);
      stripe.add(Count::kHitBytes, size_bytes);
      return {Pin(this, handle_of(shard.entry(found.slot)), reader_.peek(extent)), size_bytes, {}};
    }
  } else if (pending_ == nullptr) {
    stripe.add(background ? Count::kBackgroundMisses : Count::kMisses, 1);
    gone_files_.note_lookup(key.file);
    return {};
  }
  return serve(hash, key, found, options, slot);
}

}  // namespace nvcache
