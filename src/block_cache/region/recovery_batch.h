// Blocks of an index, sorted by the shard that they come back to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "block_cache/region/recovered_block.h"

namespace nvcache {

// Caller-locked. All memory is taken when it is made: some 240 KiB.
class RecoveryBatch {
 public:
  static constexpr uint32_t kMostBlocks = 2048;

  explicit RecoveryBatch(uint32_t shards)
      : ends_(shards + 1), shard_of_(kMostBlocks), unsorted_(kMostBlocks), sorted_(kMostBlocks) {}

  void clear() { count_ = 0; }
  bool is_full() const { return count_ == kMostBlocks; }
  std::span<const RecoveredBlock> blocks() const { return {unsorted_.data(), count_}; }
  // At most kMostBlocks.
  void add(uint32_t shard, const RecoveredBlock& block) {
    shard_of_[count_] = shard;
    unsorted_[count_++] = block;
  }
  // Calls use(shard, blocks) for each shard that has some, each with its blocks in the order in
  // which they were added.
  template <typename Use>
  void for_each_shard(Use&& use) {
    std::fill(ends_.begin(), ends_.end(), 0);
    for (uint32_t i = 0; i < count_; ++i) ++ends_[shard_of_[i] + 1];
    for (size_t shard = 1; shard < ends_.size(); ++shard) ends_[shard] += ends_[shard - 1];
    // Each entry is where the next block of its shard goes, and ends as the end of its blocks.
    for (uint32_t i = 0; i < count_; ++i) sorted_[ends_[shard_of_[i]]++] = unsorted_[i];
    uint32_t begin = 0;
    for (uint32_t shard = 0; shard + 1 < ends_.size() && begin < count_; ++shard) {
      const uint32_t end = ends_[shard];
      if (end > begin) use(shard, std::span(sorted_).subspan(begin, end - begin));
      begin = end;
    }
  }

 private:
  uint32_t count_ = 0;
  std::vector<uint32_t> ends_;
  std::vector<uint32_t> shard_of_;
  std::vector<RecoveredBlock> unsorted_;
  std::vector<RecoveredBlock> sorted_;
};

}  // namespace nvcache
