// The shards of a cache: which of them a key belongs to, what is asked of all of them, and what a
// block needs of the medium to leave or to move: its bytes, verified.
//
// Shards are even parts of the keys' hashes. They share the metadata's pool and one space.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "block_cache/api/config.h"
#include "block_cache/api/counters.h"
#include "block_cache/index/entry_pool.h"
#include "block_cache/index/erased_keys.h"
#include "block_cache/index/shard.h"
#include "block_cache/io/block_reader.h"
#include "block_cache/io/space.h"
#include "medium/medium.h"
#include "nvcache/block_key.h"
#include "nvcache/function_ref.h"
#include "nvcache/status.h"

namespace nvcache {

// Thread-safe, but for open(). No lock is held while a block is read or a sink takes it.
class ShardSet {
 public:
  struct Options {
    bool verify = false;            // blocks have checksums
    bool count_references = false;  // Shard::add_reference()
    EvictionSink* sink = nullptr;   // gets what evict_one() evicts
  };

  // REQUIRES: the arguments outlive it, and `config` the call of open().
  ShardSet(const Config& config, const Options& options, BlockReader& reader, Counters& counters)
      : hash_seed_(config.seed),
        config_(config),
        options_(options),
        reader_(reader),
        counters_(counters) {}

  // Makes the shards, without blocks. INVALID_ARGUMENT: there is no such eviction policy. `space`
  // must outlive them.
  [[nodiscard]] Status open(Space& space);

  uint64_t hash_of(const BlockKey& key) const { return hash_key(key, hash_seed_); }
  uint32_t size() const { return static_cast<uint32_t>(shards_.size()); }
  uint32_t number_of(uint64_t hash) const {
    return static_cast<uint32_t>(part_of(hash, shards_.size()));
  }
  Shard& of(uint64_t hash) const { return *shards_[part_of(hash, shards_.size())]; }
  Shard& at(uint32_t number) const { return *shards_[number]; }
  std::span<const std::unique_ptr<Shard>> all() const { return shards_; }
  Extent extent_of(EntryWord word) const {
    return {space_->to_bytes(word.offset_grains()), word.size_bytes()};
  }
  Space& space() const { return *space_; }
  bool verifies() const { return options_.verify; }
  EvictionSink* sink() const { return options_.sink; }

  // Whether these are the bytes of a pinned block; true where nothing is verified. If not, removes
  // the block.
  bool intact(uint64_t hash, const BlockKey& key, uint32_t slot, ByteView block) const;
  // Copies a pinned block and verifies it. False if it is damaged, which also removes it, or the
  // medium fails.
  bool read(const DetachedBlock& block, MutableBytes into) const;
  // Gives a pinned block to the sink. One that cannot be read, or is damaged, goes no further.
  void demote(const Shard& shard, const DetachedBlock& block) const;

  // Evicts a block of the shard, and demotes it where there is a sink. Returns its bytes; 0: there
  // was no victim.
  uint32_t evict_one(Shard& shard) const;
  // Likewise, of one shard after the other by turns.
  uint32_t evict_next() {
    return evict_one(
        at(static_cast<uint32_t>(turn_.fetch_add(1, std::memory_order_relaxed) % shards_.size())));
  }
  // Evicts what reaches into a range of places.
  void evict_between(uint64_t first_grain, uint64_t end_grain) const;
  // The functions of a shard; all shards answer alike.
  bool evicts() const { return shards_.front()->evicts(); }
  bool evicts_in_passes() const { return shards_.front()->evicts_in_passes(); }

  // The functions of a shard, on all of them. They return how many blocks they removed.
  uint64_t erase_file(uint64_t file) const;
  uint64_t erase_matching(FunctionRef<bool(const BlockKey&)> matches) const;
  uint64_t erase_all() const;

  // While blocks come back after a restart: what is erased for good is noted until
  // end_recovery(). begin_recovery() throws std::bad_alloc.
  void begin_recovery() const;
  ErasedSinceOpening end_recovery() const noexcept;

  uint64_t metadata_bytes() const;

 private:
  // A lookup reads these.
  const uint64_t hash_seed_;
  Space* space_ = nullptr;
  std::unique_ptr<EntryPool> pool_;  // outlives the shards
  std::vector<std::unique_ptr<Shard>> shards_;

  const Config& config_;
  const Options options_;
  BlockReader& reader_;
  Counters& counters_;
  std::atomic<uint64_t> turn_{0};
};

}  // namespace nvcache
