// The keys that were erased from a shard while blocks from before a restart come back: their blocks
// stay away. Others come back, whatever their hashes.
//
// About 60 bytes a key, while blocks come back. Beyond kMost, and without memory, all blocks that
// are not back yet stay away.
#pragma once

#include <cstddef>
#include <new>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "block_cache/index/recovered_block.h"
#include "nvcache/block_key.h"

namespace nvcache {

// Caller-locked.
class ErasedKeys {
 public:
  static constexpr size_t kMost = 1 << 16;

  // kWholeFile as the offset stands for a file.
  void add(const BlockKey& key) noexcept {
    if (all_) return;
    try {
      if (keys_.size() < kMost) {
        keys_.insert(key);
        return;
      }
    } catch (const std::bad_alloc&) {
    }
    add_all();
  }
  void add_all() noexcept {
    all_ = true;
    keys_.clear();
  }
  bool all() const { return all_; }
  bool covers(const BlockKey& key) const {
    return all_ ||
           (!keys_.empty() && (keys_.contains(key) || keys_.contains({key.file, kWholeFile})));
  }

  struct Hash {
    size_t operator()(const BlockKey& key) const { return hash_key(key, 0); }
  };
  using Keys = std::unordered_set<BlockKey, Hash>;
  const Keys& keys() const { return keys_; }

 private:
  Keys keys_;
  bool all_ = false;
};

// The blocks erased from all shards since the opening that may lie in regions that were not read.
struct ErasedSinceOpening {
  bool all = false;
  std::vector<BlockKey> keys;
};

}  // namespace nvcache
