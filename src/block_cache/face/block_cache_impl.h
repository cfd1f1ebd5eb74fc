// The block cache as programs see it: a block store, whose puts are stale after an erase since the
// miss, or the admission, that they belong to.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "block_cache/api/config.h"
#include "block_cache/store/block_store.h"
#include "medium/medium.h"
#include "nvcache/block_cache.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Thread-safe.
class BlockCacheImpl final : public BlockCache, private Admission::Owner {
 public:
  // Makes a cache on an open medium. `clock` must outlive it.
  [[nodiscard]] static StatusOr<std::unique_ptr<BlockCacheImpl>> make(
      const Config& config, std::unique_ptr<Medium> medium, Clock& clock);

  Lookup lookup(const BlockKey& key, const LookupOptions& options = {}) override;
  void lookup_all(std::span<BlockLookup> lookups) override;
  bool reads_side_by_side() const override { return store_.reads_side_by_side(); }
  Admission admit(const BlockKey& key, uint64_t size_bytes, Origin origin,
                  MissToken token = {}) override;
  bool contains(const BlockKey& key) const override { return store_.contains(key); }
  Status resize(uint64_t size_bytes) override { return store_.resize(size_bytes); }
  void set_dataset_size(uint64_t size_bytes) override { store_.set_dataset_size(size_bytes); }
  void note_storage_read(uint64_t took_ns) override { store_.note_storage_read(took_ns); }
  void note_compressed(uint64_t size_bytes) override { store_.note_compressed(size_bytes); }
  bool wants_storage_reads() const override { return store_.weighs_costs(); }
  void drain() override { store_.drain(); }
  Stats stats() const override { return store_.stats(); }

  // For tests and simulations, which are their own time.
  void maintain() { store_.maintain(); }
  bool recovering() const { return store_.recovering(); }
  bool probing() const { return store_.probing(); }

 private:
  BlockCacheImpl(const Config& config, std::unique_ptr<Medium> medium, Clock& clock,
                 std::unique_ptr<AdmissionPolicy> admission)
      : store_(config, std::move(medium), clock, {.tokens = true}, std::move(admission)) {}

  Verdict commit(const Admission::Offer& offer, ByteView block) override;
  StatusOr<uint64_t> erase_blocks(const Blocks& blocks, Gone gone) override {
    return store_.erase(blocks, gone);
  }

  BlockStore store_;
};

}  // namespace nvcache
