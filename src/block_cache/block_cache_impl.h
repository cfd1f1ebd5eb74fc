// The block cache: shards with the blocks' metadata, one space on one medium, an
// admission policy over all, and what ties them together.
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

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/background_thread.h"
#include "base/clock.h"
#include "base/mean_time.h"
#include "base/mutex.h"
#include "base/striped_counters.h"
#include "block_cache/background_eviction.h"
#include "block_cache/block_reader.h"
#include "block_cache/config.h"
#include "block_cache/counters.h"
#include "block_cache/dead_files.h"
#include "block_cache/medium_health.h"
#include "block_cache/region/region_space.h"
#include "block_cache/region_eviction.h"
#include "block_cache/shard.h"
#include "block_cache/space/slab_space.h"
#include "block_cache/write_queue.h"
#include "medium/metered.h"
#include "nvcache/admission_policy.h"
#include "nvcache/block_cache.h"

namespace nvcache {

// Thread-safe.
class BlockCacheImpl final : public BlockCache, private Pin::Owner, private Admission::Owner {
 public:
  // What a tier of a TieredCache needs beyond a cache of its own.
  struct TierOptions {
    bool count_references = false;
    EvictionSink* sink = nullptr;  // gets what is evicted; must outlive the cache
  };

  // Makes a cache on an open medium. `clock` must outlive it.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<BlockCacheImpl>> make(
      const Config& config, std::unique_ptr<Medium> medium, Clock& clock, TierOptions tier);
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<BlockCacheImpl>> make(
      const Config& config, std::unique_ptr<Medium> medium, Clock& clock) {
    return make(config, std::move(medium), clock, {});
  }
  ~BlockCacheImpl() override;  // all pins must be gone

  Lookup lookup(const BlockKey& key, const LookupOptions& options = {}) override;
  Admission admit(const BlockKey& key, uint64_t size_bytes, Origin origin,
                  MissToken token = {}) override;
  // As put(), refused as stale unless `generation` is `expected` while the block is
  // entered (with its shard locked).
  Verdict put_if(const BlockKey& key, ByteView block, Origin origin,
                 const std::atomic<uint32_t>& generation, std::optional<uint32_t> expected);
  // As lookup() in the foreground. A hit counts as a reference to the block. *references is
  // the number that the block has had (as Shard::add_reference()), 0 on a miss. Only with
  // TierOptions::count_references.
  Lookup lookup_counted(const BlockKey& key, uint32_t* references);
  bool erase(const BlockKey& key) override;
  bool erase_dead(const BlockKey& key) override;
  bool contains(const BlockKey& key) const override;
  uint64_t erase_file(uint64_t file) override;
  uint64_t erase_dead_files(std::span<const uint64_t> files) override;
  absl::Status erase_durably(std::span<const BlockKey> keys,
                             std::span<const uint64_t> files) override;
  absl::Status resize(uint64_t size_bytes) override;
  void set_dataset_size(uint64_t size_bytes) override;
  void note_storage_read(uint64_t took_ns) override { storage_read_.add(took_ns); }
  void note_compressed(uint64_t size_bytes) override {
    counters_.add(Count::kCompressed, 1);
    counters_.add(Count::kCompressedBytes, size_bytes);
  }
  bool wants_storage_reads() const override { return admission_->weighs_costs(); }
  // Removes every block.
  void clear();
  // Removes the blocks whose keys match, and returns how many. One that the cache is moving on its
  // medium, or that has not come back yet after a restart, may stay. `matches` is called with a
  // shard locked.
  uint64_t erase_matching(absl::FunctionRef<bool(const BlockKey&)> matches);
  // Share of the space that is taken.
  double used_share() const {
    const uint64_t limit_bytes = space_->limit_bytes();
    if (limit_bytes == 0) return 1;
    return static_cast<double>(space_->used_bytes()) / static_cast<double>(limit_bytes);
  }
  // Whether blocks of before a restart may still come back.
  bool recovering() const { return regions_ != nullptr && regions_->recovering(); }
  void drain() override;
  Stats stats() const override;

  // One round of the maintenance thread: a pass of background eviction, where there is any.
  void maintain();

 private:
  static constexpr size_t kGenerations = 4096;

  BlockCacheImpl(const Config& config, std::unique_ptr<Medium> medium, Clock& clock,
                 TierOptions tier, std::unique_ptr<AdmissionPolicy> admission);

  uint64_t shard_number(uint64_t hash) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * shards_.size()) >> 64);
  }
  Shard& shard_of(uint64_t hash) { return *shards_[shard_number(hash)]; }
  std::atomic<uint32_t>& generation_of(uint64_t hash) { return generations_[hash % kGenerations]; }
  // A pin's handle is its entry's address: releasing it touches nothing else.
  static uint64_t handle_of(Entry& entry) { return reinterpret_cast<uint64_t>(&entry); }
  static uint64_t queue_handle(uint64_t shard, uint32_t slot) { return shard << 32 | slot; }
  Shard& shard_at(uint64_t queue_handle) { return *shards_[queue_handle >> 32]; }
  static uint32_t slot_at(uint64_t queue_handle) { return static_cast<uint32_t>(queue_handle); }
  Extent extent_of(const PinnedBlock& block) const {
    return {space_->to_bytes(block.word.offset_grains()), block.word.size_bytes()};
  }

  // With kCounts, `references` is not null.
  template <bool kCounts>
  Lookup look_up(const BlockKey& key, const LookupOptions& options, uint32_t* references);
  // The rest of a lookup, where a hit is more than a pin. Takes the pin of `found`.
  template <bool kCounts>
  Lookup serve(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
               const LookupOptions& options, uint32_t* references);
  Lookup serve_pinned(uint64_t hash, const BlockKey& key, const PinnedBlock& found,
                      const LookupOptions& options);
  // *slot: where its entry is, if it is a hit.
  Lookup serve_pending(uint64_t hash, const BlockKey& key, const LookupOptions& options,
                       uint32_t* slot);
  MissToken token_of(uint64_t hash) const;
  // A miss if there is no memory for the pin.
  static Lookup serve_buffer(SharedBuffer buffer, ByteView bytes);
  // Removes the block if the medium failed to read it.
  bool fetched(uint64_t hash, const PinnedBlock& found, Fetch outcome);
  // Removes the block if its bytes are damaged.
  bool intact(uint64_t hash, const BlockKey& key, const PinnedBlock& found, ByteView block);
  void release(uint64_t handle) override;
  // Refuses all puts, and all blocks of before a restart, that are under way.
  void move_generations();

  [[nodiscard]] absl::Status open_space();
  [[nodiscard]] absl::Status open_in_place();
  [[nodiscard]] absl::Status start_background_eviction();

  // Of a space in regions (block_cache_regions.cc).
  [[nodiscard]] absl::Status open_regions();
  [[nodiscard]] absl::Status start_regions();
  void close_regions();
  // True: there was no memory, and it must be tried again.
  bool recover();
  RecoveryPlan plan_recovery();
  uint32_t recovery_threads() const;
  void recover_blocks(uint32_t shard, std::span<RecoveredBlock> blocks);
  // A block may have been removed that has not come back yet.
  void note_unseen_removal() {
    if (recovering()) unseen_removals_.store(true, std::memory_order_relaxed);
  }
  Verdict append(uint64_t hash, const BlockKey& key, ByteView block,
                 const std::atomic<uint32_t>& generation, std::optional<uint32_t> expected);
  bool read_block(Shard& shard, const DetachedBlock& block, MutableBytes into);
  // Blocks were erased: a region may have none left.
  void give_back() {
    if (regions_ != nullptr && regions_->wants_to_discard()) region_eviction_->wake();
  }
  absl::Status resize_in_place(uint64_t size_bytes);
  absl::Status resize_regions(uint64_t size_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(resize_mutex_);
  absl::Status shrink_to(uint32_t regions) ABSL_EXCLUSIVE_LOCKS_REQUIRED(resize_mutex_);
  // Blocks that came back beyond a limit that was set meanwhile leave.
  void finish_resize();

  // kAdmitted with room at *offset_grains, or why there is none.
  Reason allocate(uint64_t hash, uint32_t size_bytes, uint64_t* offset_grains);
  // The bytes of the block that was evicted; 0: there was no victim.
  uint32_t evict_one(Shard& shard);
  void demote(Shard& shard, const DetachedBlock& block);
  Verdict write_block(uint64_t hash, const BlockKey& key, uint32_t slot, uint64_t offset_grains,
                      ByteView block, MutableBuffer buffer);
  absl::Status write_medium(uint64_t offset, ByteView block);
  void count_written(uint32_t written_bytes, const absl::Status& status);
  // Whether the block is let in, and how it enters then. A refusal is counted.
  Verdict judge(uint64_t hash, const BlockKey& key, uint64_t size_bytes, Origin origin);
  Verdict enter(uint64_t hash, const BlockKey& key, ByteView block,
                const std::atomic<uint32_t>& generation, std::optional<uint32_t> expected);
  Verdict commit(const Admission::Offer& offer, ByteView block) override;
  Verdict refuse(Reason reason);
  Traffic traffic() const;
  // With the totals, if the policy needs them at this question.
  Traffic traffic_for_admission() const;
  bool totals_are_due() const;
  bool may_evict() const { return admission_->may_evict(traffic_for_admission()); }

  const Config config_;
  const TierOptions tier_;
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
  std::vector<std::atomic<uint32_t>> generations_;
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
  std::atomic<bool> closing_{false};
  std::atomic<bool> unseen_removals_{false};
  BackgroundThread recovery_;
  BackgroundThread maintenance_;
};

}  // namespace nvcache
