// Erasing blocks: one verb, and how it must hold. Each shard notes what was erased for good while
// blocks come back after a restart; what must hold over a crash is written before this returns.
#include <algorithm>
#include <vector>

#include "block_cache/block_store.h"

namespace nvcache {

absl::StatusOr<uint64_t> BlockStore::erase(const Blocks& blocks, Gone gone) {
  uint64_t erased = 0;
  for (const BlockKey& key : blocks.keys) erased += erase(key, gone) ? 1 : 0;
  if (gone == Gone::kMayReturn) {
    erased += erase_dead_files(blocks.files);
  } else {
    for (const uint64_t file : blocks.files) erased += erase_file(file);
  }
  if (gone != Gone::kDurable || regions_ == nullptr) return erased;
  absl::Status durable = regions_->remember_erased(blocks.keys, blocks.files);
  if (!durable.ok()) return durable;
  return erased;
}

bool BlockStore::erase(const BlockKey& key, Gone gone) {
  const uint64_t hash = hash_of(key);
  const bool erased =
      shard_of(hash).erase(hash, key, gone, generations_.kept() ? &generations_.of(hash) : nullptr);
  give_back();
  return erased;
}

uint64_t BlockStore::erase_file(uint64_t file) {
  generations_.move_all();  // of none, if they are not kept
  uint64_t erased = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) erased += shard->erase_file(file);
  give_back();
  return erased;
}

uint64_t BlockStore::erase_dead_files(std::span<const uint64_t> files) {
  if (files.empty()) return 0;
  uint64_t erased = 0;
  std::vector<uint64_t> rest(files.begin(), files.end());
  if (std::erase(rest, DeadFiles::kNone) > 0) erased += erase_file(DeadFiles::kNone);
  // Of two files with one place in the table only the last is there: the other has a pass of its
  // own. Each round takes one file at least, unless other threads take the places.
  for (size_t rounds = files.size(); rounds > 0 && !rest.empty(); --rounds) {
    for (const uint64_t file : rest) dead_files_.add(file);
    for (const std::unique_ptr<Shard>& shard : shards_) {
      erased += shard->erase_dead_files(dead_files_);
    }
    std::erase_if(rest, [this](uint64_t file) { return dead_files_.has(file); });
  }
  give_back();
  return erased;
}

void BlockStore::clear() {
  for (const std::unique_ptr<Shard>& shard : shards_) shard->erase_all();
  give_back();
}

uint64_t BlockStore::erase_matching(absl::FunctionRef<bool(const BlockKey&)> matches) {
  uint64_t erased = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) erased += shard->erase_matching(matches);
  give_back();
  return erased;
}

}  // namespace nvcache
