// Blocks on a medium, found by their keys: what the block cache and the lower tiers of a tiered
// cache are made of. Shards with the blocks' metadata, one space on one medium, an admission policy
// over all, and what ties them together. The owner of the store says when a put is stale:
// BlockCacheImpl, with tokens of misses, or a LowerTier, with the tokens of its cache's keys.
//
// How a block comes in: the admission policy says yes; an extent is allocated,
// evicting by the shards' policies where it must and may; the block is entered as
// filling; its bytes are written with no lock held (in place on byte-addressable
// media, by the write queue on devices, into an open region where the space is in
// regions); it is published.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/background_thread.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mean_time.h"
#include "base/mutex.h"
#include "base/striped_counters.h"
#include "block_cache/background_eviction.h"
#include "block_cache/block_reader.h"
#include "block_cache/config.h"
#include "block_cache/counters.h"
#include "block_cache/dead_files.h"
#include "block_cache/key_generations.h"
#include "block_cache/medium_health.h"
#include "block_cache/medium_probe.h"
#include "block_cache/region/region_space.h"
#include "block_cache/region_eviction.h"
#include "block_cache/shard.h"
#include "block_cache/space/slab_space.h"
#include "block_cache/write_queue.h"
#include "medium/metered.h"
#include "nvcache/admission_policy.h"
#include "nvcache/block_cache.h"
#include "nvcache/function_ref.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Thread-safe.
class BlockStore final : private Pin::Owner {
 public:
  // What stands above the store wants of it.
  struct Options {
    bool tokens = false;            // token_of()
    bool count_references = false;  // add_reference()
    EvictionSink* sink = nullptr;   // gets what is evicted; must outlive the store
  };
  // A put is stale unless `generation` is `expected` when the block is entered, under its lock.
  struct Freshness {
    const std::atomic<uint32_t>& generation;
    uint32_t expected;
  };

  // A store on an open medium. `clock` must outlive it. It has no blocks before open().
  BlockStore(const Config& config, std::unique_ptr<Medium> medium, Clock& clock,
             const Options& options, std::unique_ptr<AdmissionPolicy> admission);
  [[nodiscard]] Status open();
  // All of it in one. INVALID_ARGUMENT, or an error of the medium.
  [[nodiscard]] static StatusOr<std::unique_ptr<BlockStore>> make(const Config& config,
                                                                  std::unique_ptr<Medium> medium,
                                                                  Clock& clock,
                                                                  const Options& options);
  [[nodiscard]] static StatusOr<std::unique_ptr<AdmissionPolicy>> make_admission_of(
      const Config& config);
  ~BlockStore() override;  // all pins must be gone

  uint64_t hash_of(const BlockKey& key) const { return hash_key(key, config_.seed); }

  // As BlockCache::lookup(), but a miss has no token. `hash` is the key's. *slot: where the entry
  // of a hit is, for add_reference().
  Lookup find(uint64_t hash, const BlockKey& key, const LookupOptions& options, uint32_t* slot);
  // As Shard::add_reference().
  uint32_t add_reference(uint64_t hash, uint32_t slot) {
    return shard_of(hash).add_reference(slot);
  }
  // An erase from now on outdates the token. Only with Options::tokens.
  MissToken token_of(uint64_t hash) const { return generations_.token_of(hash); }
  Freshness since(uint64_t hash, const MissToken& token) {
    return {generations_.of(hash), token.generation};
  }

  // Whether a block may come in. A refusal is counted.
  Verdict judge(uint64_t hash, const BlockKey& key, uint64_t size_bytes, Origin origin);
  // Brings one in that may. May still refuse it, which is counted.
  Verdict enter(uint64_t hash, const BlockKey& key, ByteView block, const Freshness& fresh);
  // Both in one.
  Verdict put(const BlockKey& key, ByteView block, Origin origin, const Freshness& fresh);
  // Counts a refusal.
  Verdict refuse(Reason reason);

  // These are as those of BlockCache.
  bool contains(const BlockKey& key) const;
  StatusOr<uint64_t> erase(const Blocks& blocks, Gone gone);
  bool erase(const BlockKey& key, Gone gone);  // kMayReturn, kForGood
  Status resize(uint64_t size_bytes);
  void drain();
  Stats stats() const;
  void set_dataset_size(uint64_t size_bytes);
  void note_storage_read(uint64_t took_ns) { storage_read_.add(took_ns); }
  void note_compressed(uint64_t size_bytes) {
    counters_.add(Count::kCompressed, 1);
    counters_.add(Count::kCompressedBytes, size_bytes);
  }
  bool weighs_costs() const { return admission_->weighs_costs(); }

  // Removes every block, for good.
  void clear();
  // Removes the blocks whose keys match, and returns how many. One that the cache is moving on its
  // medium, or that has not come back yet after a restart, may stay. `matches` is called with a
  // shard locked. They may come back after a restart.
  uint64_t erase_matching(FunctionRef<bool(const BlockKey&)> matches);
  // Share of the space that is taken.
  double used_share() const {
    const uint64_t limit_bytes = space_->limit_bytes();
    if (limit_bytes == 0) return 1;
    return static_cast<double>(space_->used_bytes()) / static_cast<double>(limit_bytes);
  }
  // Whether blocks of before a restart may still come back.
  bool recovering() const { return regions_ != nullptr && regions_->recovering(); }
  bool probing() const { return probe_->busy(); }

  // One round of the maintenance thread: a pass of background eviction, where there is any.
  void maintain();

 private:
  uint64_t shard_number(uint64_t hash) const { return part_of(hash, shards_.size()); }
  Shard& shard_of(uint64_t hash) { return *shards_[shard_number(hash)]; }
  // A pin's handle is its entry's address: releasing it touches nothing else.
  static uint64_t handle_of(Entry& entry) { return reinterpret_cast<uint64_t>(&entry); }
  static uint64_t queue_handle(uint64_t shard, uint32_t slot) { return shard << 32 | slot; }
  Shard& shard_at(uint64_t queue_handle) { return *shards_[queue_handle >> 32]; }
  static uint32_t slot_at(uint64_t queue_handle) { return static_cast<uint32_t>(queue_handle); }
  Extent extent_of(const PinnedBlock& block) const {
    return {space_->to_bytes(block.word.offset_grains()), block.word.size_bytes()};
  }

  // The rest of find(), where a hit is more than a pin. Takes the pin of `found`.
  Lookup serve(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
               const LookupOptions& options, uint32_t* slot);
  Lookup serve_pinned(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                      const LookupOptions& options);
  Lookup serve_pending(uint64_t hash, const BlockKey& key, const LookupOptions& options,
                       uint32_t* slot);
  // A miss if there is no memory for the pin.
  static Lookup serve_buffer(SharedBuffer buffer, ByteView bytes);
  // Removes the block if the medium failed to read it.
  bool fetched(uint64_t hash, const PinnedBlock& found, Fetch outcome);
  // Removes the block if its bytes are damaged.
  bool intact(uint64_t hash, const BlockKey& key, const PinnedBlock& found, ByteView block);
  void release(uint64_t handle) override;
  uint64_t erase_file(uint64_t file);
  uint64_t erase_dead_files(std::span<const uint64_t> files);

  [[nodiscard]] Status open_space();
  [[nodiscard]] Status open_in_place();
  [[nodiscard]] Status start_background_eviction();

  // Of a space in regions (block_cache_regions.cc).
  [[nodiscard]] Status open_regions();
  [[nodiscard]] Status start_regions();
  void close_regions();
  // True: there was no memory, and it must be tried again.
  bool recover();
  RecoveryPlan plan_recovery();
  uint32_t recovery_threads() const;
  void recover_blocks(uint32_t shard, std::span<RecoveredBlock> blocks);
  // What was erased while blocks came back.
  RegionSpace::Unread end_recovery() noexcept;
  Verdict append(uint64_t hash, const BlockKey& key, ByteView block, const Freshness& fresh);
  bool read_block(Shard& shard, const DetachedBlock& block, MutableBytes into);
  // Blocks were erased: a region may have none left.
  void give_back() {
    if (regions_ != nullptr && regions_->wants_to_discard()) region_eviction_->wake();
  }
  Status resize_in_place(uint64_t size_bytes);
  Status resize_regions(uint64_t size_bytes) NVCACHE_REQUIRES(resize_mutex_);
  Status shrink_to(uint32_t regions) NVCACHE_REQUIRES(resize_mutex_);
  // Blocks that came back beyond a limit that was set as they came leave.
  void finish_resize();

  // kAdmitted with room at *offset_grains, or why there is none.
  Reason allocate(uint64_t hash, uint32_t size_bytes, uint64_t* offset_grains);
  // The bytes of the block that was evicted; 0: there was no victim.
  uint32_t evict_one(Shard& shard);
  void demote(Shard& shard, const DetachedBlock& block);
  Verdict write_block(uint64_t hash, const BlockKey& key, uint32_t slot, uint64_t offset_grains,
                      ByteView block, MutableBuffer buffer);
  Status write_medium(uint64_t offset, ByteView block);
  // A block in place could not be written.
  void lose(Shard& shard, uint32_t slot, Extent failed);
  void count_written(uint32_t written_bytes, const Status& status);
  void make_probe(PlacesToTry& places);
  // Of a medium that is switched off: whether this put may reach it, as a probe.
  bool may_be_probe();
  Traffic traffic() const;
  // With the totals, if the policy needs them at this question.
  Traffic traffic_for_admission() const;
  bool totals_are_due() const;
  bool may_evict() const { return admission_->may_evict(traffic_for_admission()); }

  const Config config_;
  const Options options_;
  const std::unique_ptr<MeteredMedium> medium_;
  Clock& clock_;
  const std::unique_ptr<AdmissionPolicy> admission_;
  const uint32_t totals_interval_;
  // Of the admission policy, by thread.
  enum class Question : size_t { kAsked, kFieldCount };
  mutable StripedCounters<Question> questions_;
  // A read that the page cache serves tells little of the next one: a long mean.
  MeanTime storage_read_{{.times = 128, .most_times_the_mean = 64}};
  std::unique_ptr<SlabSpace> in_place_;  // null: the space is in regions
  Space* space_ = nullptr;               // the one or the other
  Counters counters_;
  MediumHealth health_;
  BlockReader reader_;
  const bool verify_;
  Refusals refused_;
  KeyGenerations generations_;  // kept for tokens
  DeadFiles dead_files_;
  std::unique_ptr<EntryPool> pool_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<BackgroundEviction> background_eviction_;  // null: puts evict
  std::atomic<uint64_t> eviction_turn_{0};  // the shard that evicts next for a put of another shard
  std::atomic<uint64_t> dataset_size_bytes_{0};
  Mutex resize_mutex_;
  std::unique_ptr<WriteQueue> write_queue_;  // null: who puts a block writes it
  std::unique_ptr<RegionSpace> regions_;     // null: the space is in place
  std::unique_ptr<RegionEviction> region_eviction_;
  std::unique_ptr<MediumProbe> probe_;
  std::atomic<bool> closing_{false};
  BackgroundThread recovery_;
  BackgroundThread maintenance_;
};

// In both faces: a hit in place is some dozen instructions beyond the shard's own, and a call of
// this would take 25 more.
[[gnu::always_inline]] inline Lookup BlockStore::find(uint64_t hash, const BlockKey& key,
                                                      const LookupOptions& options,
                                                      uint32_t* slot) {
  Shard& shard = shard_of(hash);
  const bool background = options.caller == Caller::kBackground;
  Counters::Stripe& stripe = counters_.mine();
  const PinnedBlock found = shard.find_and_pin(hash, key);
  *slot = found.slot;
  if (found.found()) [[likely]] {
    shard.on_hit(found.slot);
    if (reader_.reads() == Reads::kInPlace && !options.copy_into) [[likely]] {
      const Extent extent = extent_of(found);
      const auto size_bytes = static_cast<uint32_t>(extent.size_bytes);
      stripe.add(background ? Count::kBackgroundHits : Count::kHits, 1);
      stripe.add(Count::kHitBytes, size_bytes);
      return {Pin(this, handle_of(shard.entry(found.slot)), reader_.peek(extent)), size_bytes, {}};
    }
  } else if (write_queue_ == nullptr) {
    stripe.add(background ? Count::kBackgroundMisses : Count::kMisses, 1);
    dead_files_.note_lookup(key.file);
    return {};
  }
  return serve(hash, key, found, options, slot);
}

}  // namespace nvcache
