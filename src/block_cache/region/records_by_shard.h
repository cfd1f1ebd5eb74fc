// The records of an index, by the shard that each comes back to. The thread that read the index
// sorts them, once; then several threads go through them, each through shards of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"
#include "block_cache/region/format.h"

namespace nvcache {

// Caller-locked. Keeps its memory for the next index: 12 bytes a record and 4 a shard.
class RecordsByShard {
 public:
  // Throws std::bad_alloc. `shard_of(hash)` is below `shards`.
  template <typename ShardOf>
  void sort(std::span<const BlockRecord> records, uint64_t hash_seed, uint32_t shards,
            const ShardOf& shard_of) {
    hashes_.resize(records.size());
    order_.resize(records.size());
    ends_.assign(shards + 1, 0);
    for (size_t i = 0; i < records.size(); ++i) {
      hashes_[i] = hash_key(records[i].key, hash_seed);
      ++ends_[shard_of(hashes_[i]) + 1];
    }
    for (size_t shard = 1; shard < ends_.size(); ++shard) ends_[shard] += ends_[shard - 1];
    // Each entry is where the next record of its shard goes, and ends as the end of its records.
    for (uint32_t i = 0; i < records.size(); ++i) order_[ends_[shard_of(hashes_[i])]++] = i;
  }

  // Numbers of records of a shard, in the order of the index.
  std::span<const uint32_t> of(uint32_t shard) const {
    const uint32_t begin = shard == 0 ? 0 : ends_[shard - 1];
    return std::span(order_).subspan(begin, ends_[shard] - begin);
  }
  uint64_t hash(uint32_t record) const { return hashes_[record]; }

 private:
  std::vector<uint64_t> hashes_;  // by record
  std::vector<uint32_t> order_;   // numbers of records, by shard
  std::vector<uint32_t> ends_;    // by shard, in order_
};

}  // namespace nvcache
