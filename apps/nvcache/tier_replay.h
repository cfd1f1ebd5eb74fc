// Lookups of a trace in caches: the real block cache in DRAM, an LRU cache, and one that knows the
// future. Each call counts every block as one, whatever its size; sizes count as bytes written.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/trace/decoder.h"
#include "nvcache/block_cache.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct ReplayResult {
  uint64_t lookups = 0;
  uint64_t hits = 0;
  uint64_t inserts = 0;        // also those of a block that is written again, in another region
  uint64_t written_bytes = 0;  // of what was inserted

  double hit_ratio() const { return per_lookup(hits); }
  double inserts_per_lookup() const { return per_lookup(inserts); }

 private:
  double per_lookup(uint64_t count) const {
    return lookups == 0 ? 0 : static_cast<double>(count) / static_cast<double>(lookups);
  }
};

// An LRU cache of keys. Caller-locked. Memory: about 70 bytes a block.
class LruKeys {
 public:
  explicit LruKeys(uint64_t blocks) : blocks_(blocks) {}
  // Looks a key up, and inserts it after a miss. True: a hit.
  bool lookup(uint64_t key);

 private:
  const uint64_t blocks_;
  std::list<uint64_t> order_;  // most recent first
  std::unordered_map<uint64_t, std::list<uint64_t>::iterator> at_;
};

// A block cache of a number of blocks, as a specification describes it. With space=regions its
// medium has a head of 1 MiB besides; indexes and free regions are taken from the blocks' room.
// Caller-locked. Memory: about 50 bytes a block, and the block.
class TierReplay {
 public:
  static constexpr uint64_t kLeastBlocks = 128;
  static constexpr uint32_t kUsualBlockBytes = 512;

  // `settings` are those of a specification, but for size: "admission=always&eviction=lru"; or the
  // two policies alone: "always+lru". The medium is DRAM unless they name another. `block_bytes`:
  // what a block takes there, from 64 bytes to 64 KiB. INVALID_ARGUMENT for bad settings.
  [[nodiscard]] static StatusOr<std::unique_ptr<TierReplay>> open(
      const std::string& settings, uint64_t blocks, uint32_t block_bytes = kUsualBlockBytes);

  // Looks each up, and offers it to the cache after a miss. DATA_LOSS if a lookup finds the bytes
  // of another key.
  [[nodiscard]] Status run(std::span<const Access> lookups);
  const ReplayResult& result() const { return result_; }

 private:
  TierReplay(std::unique_ptr<BlockCache> cache, uint32_t block_bytes)
      : cache_(std::move(cache)), block_bytes_(block_bytes), in_regions_(in_regions(*cache_)) {}

  static bool in_regions(const BlockCache& cache) { return cache.stats().regions != 0; }
  void wait_for_room() const;
  void count_rewritten();

  const std::unique_ptr<BlockCache> cache_;
  const uint32_t block_bytes_;
  const bool in_regions_;
  uint64_t rewritten_ = 0;  // blocks, counted so far
  ReplayResult result_;
};

// The most hits that any cache of that many blocks can have: it knows the future, and leaves out a
// block whose next use comes later than those of all that it holds (Belady, 1966). Memory: 8 bytes
// a lookup, and about 60 bytes for each key and each block.
ReplayResult replay_optimal(std::span<const Access> lookups, uint64_t blocks);

}  // namespace nvcache
