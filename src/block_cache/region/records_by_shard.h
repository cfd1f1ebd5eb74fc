// The records of an index, by the shard that each comes back to. The thread that read the index
// sorts them, once; then several threads go through them, each through shards of its own.
//
// They are copied, not pointed at: a read from the medium is in no processor's cache, so each
// record is fetched once, in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "block_cache/index/shard_set.h"
#include "block_cache/region/format.h"

namespace nvcache {

struct HashedRecord {
  BlockRecord record;
  uint64_t hash = 0;
};

// Caller-locked. Keeps its memory for the next index: 48 bytes a record and 4 a shard.
class RecordsByShard {
 public:
  // Throws std::bad_alloc.
  void sort(std::span<const BlockRecord> records, const ShardSet& shards) {
    hashes_.resize(records.size());
    sorted_.resize(records.size());
    ends_.assign(shards.size() + 1, 0);
    for (size_t i = 0; i < records.size(); ++i) {
      hashes_[i] = shards.hash_of(records[i].key);
      ++ends_[shards.number_of(hashes_[i]) + 1];
    }
    for (size_t shard = 1; shard < ends_.size(); ++shard) ends_[shard] += ends_[shard - 1];
    // Each entry is where the next record of its shard goes, and ends as the end of its records.
    for (size_t i = 0; i < records.size(); ++i) {
      HashedRecord& sorted = sorted_[ends_[shards.number_of(hashes_[i])]++];
      sorted.record = records[i];
      sorted.hash = hashes_[i];
    }
  }

  // In the order of the index.
  std::span<const HashedRecord> of(uint32_t shard) const {
    const uint32_t begin = shard == 0 ? 0 : ends_[shard - 1];
    return std::span(sorted_).subspan(begin, ends_[shard] - begin);
  }

 private:
  std::vector<uint64_t> hashes_;  // by number in the index
  std::vector<HashedRecord> sorted_;
  std::vector<uint32_t> ends_;  // by shard, in sorted_
};

}  // namespace nvcache
