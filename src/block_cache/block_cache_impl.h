// The block cache: shards with the blocks' metadata, one space on one medium, an
// admission policy over all, and what ties them together.
//
// How a block comes in: the admission policy says yes; an extent is allocated,
// evicting by the shards' policies where it must and may; the block is entered as
// filling; its bytes are written with no lock held (in place on byte-addressable
// media, by the write queue on devices); it is published.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/background_thread.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "block_cache/background_eviction.h"
#include "block_cache/config.h"
#include "block_cache/counters.h"
#include "block_cache/shard.h"
#include "block_cache/space/slab_space.h"
#include "block_cache/write_queue.h"
#include "medium/medium.h"
#include "nvcache/block_cache.h"
#include "policy/admission/admission_policy.h"

namespace nvcache {

// Thread-safe.
class BlockCacheImpl final : public BlockCache, private Pin::Owner {
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

  Lookup get(const BlockKey& key, Caller caller = Caller::kForeground) override;
  Copied get_copy(const BlockKey& key, MutableBytes into,
                  Caller caller = Caller::kForeground) override;
  Verdict put(const BlockKey& key, ByteView block, Origin origin, MissToken token = {}) override;
  Verdict admit(const BlockKey& key, uint64_t size_bytes, Origin origin) override;
  Verdict put_admitted(const BlockKey& key, ByteView block, MissToken token = {}) override;
  // As put(), refused as stale unless `generation` is `expected` while the block is
  // entered (with its shard locked).
  Verdict put_if(const BlockKey& key, ByteView block, Origin origin,
                 const std::atomic<uint32_t>& generation, std::optional<uint32_t> expected);
  // As get() in the foreground; a hit counts as a reference to the block, *references being
  // how many it has had (as Shard::add_reference()), 0 on a miss. Only with
  // TierOptions::count_references.
  Lookup get_counted(const BlockKey& key, uint32_t* references);
  bool erase(const BlockKey& key) override;
  bool contains(const BlockKey& key) const override;
  uint64_t erase_file(uint64_t file) override;
  absl::Status resize(uint64_t size_bytes) override;
  void set_dataset_size(uint64_t size_bytes) override;
  // Removes every block.
  void clear();
  // Share of the space that is taken.
  double used_share() const {
    return static_cast<double>(space_.used_bytes()) / static_cast<double>(space_.limit_bytes());
  }
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
  // What the medium reads and writes for a block of that size.
  uint32_t padded(uint64_t size_bytes) const {
    const uint64_t unit = medium_->traits().io_granularity_bytes;
    return static_cast<uint32_t>((size_bytes + unit - 1) / unit * unit);
  }

  // With kCounts, `references` is not null.
  template <bool kCounts>
  Lookup look_up(const BlockKey& key, Caller caller, uint32_t* references);
  Pin in_place_pin(Shard& shard, const PinnedBlock& found);
  Pin serve_in_place(uint64_t hash, const BlockKey& key, const PinnedBlock& found);
  Pin serve_copy(uint64_t hash, const BlockKey& key, const PinnedBlock& found);
  // *slot: where its entry is, if it is a hit and `slot` is given.
  Pin serve_pending(uint64_t hash, const BlockKey& key, uint32_t* slot = nullptr);
  bool copy_into(uint64_t hash, const BlockKey& key, const PinnedBlock& found, MutableBytes into);
  bool read_into(uint64_t offset, MutableBytes into);
  bool read_padded(uint64_t offset, MutableBytes into);
  MissToken token_of(uint64_t hash) const;
  bool intact(uint64_t hash, const BlockKey& key, const PinnedBlock& found, ByteView block);
  void release(uint64_t handle) override;

  // kAdmitted with room at *offset_grains, or why there is none.
  Reason allocate(uint64_t hash, uint32_t size_bytes, uint32_t* offset_grains);
  bool evict_one(Shard& shard);
  void hand_down(Shard& shard, const DetachedBlock& block);
  Verdict write_block(uint64_t hash, const BlockKey& key, uint32_t slot, uint32_t offset_grains,
                      ByteView block);
  void count_written(uint32_t written_bytes, const absl::Status& status);
  // The parts of put(). A refusal is counted.
  Verdict usable(uint64_t size_bytes);
  Verdict ask_admission(uint64_t hash, const BlockKey& key, uint64_t size_bytes, Origin origin);
  Verdict enter(uint64_t hash, const BlockKey& key, ByteView block,
                const std::atomic<uint32_t>& generation, std::optional<uint32_t> expected);
  Verdict refuse(Reason reason);
  Traffic traffic() const;
  void count_medium_result(const absl::Status& status);

  const Config config_;
  const TierOptions tier_;
  const std::unique_ptr<Medium> medium_;
  Clock& clock_;
  const std::unique_ptr<AdmissionPolicy> admission_;
  const bool in_place_;        // blocks are written by who puts them, not by the queue
  const bool reads_in_place_;  // and hits point into the medium
  const bool charges_direct_reads_;
  const bool verify_;
  const bool plain_;      // hits need neither the medium's consent nor a checksum
  const ByteView bytes_;  // of the medium, where in place
  SlabSpace space_;
  Counters counters_;
  std::array<std::atomic<uint64_t>, kReasonCount> refused_{};
  std::vector<std::atomic<uint32_t>> generations_;
  std::unique_ptr<EntryPool> pool_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<BackgroundEviction> background_eviction_;  // null: puts evict
  std::atomic<uint64_t> dataset_size_bytes_{0};
  std::atomic<uint32_t> errors_in_row_{0};
  std::atomic<bool> failed_{false};
  Mutex resize_mutex_;
  std::unique_ptr<WriteQueue> write_queue_;
  BackgroundThread maintenance_;
};

}  // namespace nvcache
