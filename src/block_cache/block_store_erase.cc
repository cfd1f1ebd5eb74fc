// Erasing blocks: one verb, and how it must hold. Each shard notes what was erased for good while
// blocks come back after a restart; what must hold over a crash is written before this returns.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "block_cache/block_store.h"

namespace nvcache {
namespace {

// Files that a pass over all blocks looks for. Bits by the file's hash, 16 to 32 for each file, say
// of nearly all others that they are not there. One multiplication hashes (Fibonacci hashing, Knuth
// 6.4): a pass asks for each block.
class FileSet {
 public:
  // May throw std::bad_alloc.
  explicit FileSet(std::vector<uint64_t> files)
      : files_(std::move(files)),
        shift_(64 - std::bit_width(kBitsPerFile * files_.size() + kWordBits)),
        bits_((uint64_t{1} << (64 - shift_)) / kWordBits) {
    std::ranges::sort(files_);
    for (const uint64_t file : files_) {
      const uint64_t bit = bit_of(file);
      bits_[bit / kWordBits] |= uint64_t{1} << bit % kWordBits;
    }
  }
  bool has(uint64_t file) const {
    const uint64_t bit = bit_of(file);
    return (bits_[bit / kWordBits] >> bit % kWordBits & 1) != 0 &&
           std::ranges::binary_search(files_, file);
  }

 private:
  static constexpr uint64_t kBitsPerFile = 16;
  static constexpr uint64_t kWordBits = 64;

  uint64_t bit_of(uint64_t file) const { return file * 0x9e3779b97f4a7c15ull >> shift_; }

  std::vector<uint64_t> files_;
  const int shift_;
  std::vector<uint64_t> bits_;
};

}  // namespace

StatusOr<uint64_t> BlockStore::erase(const Blocks& blocks, Gone gone) {
  uint64_t erased = 0;
  for (const BlockKey& key : blocks.keys) erased += erase(key, gone) ? 1 : 0;
  if (gone == Gone::kMayReturn) {
    erased += erase_dead_files(blocks.files);
  } else {
    for (const uint64_t file : blocks.files) erased += erase_file(file);
  }
  if (gone != Gone::kDurable || regions_ == nullptr) return erased;
  Status durable = regions_->remember_erased(blocks.keys, blocks.files);
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
  for (const uint64_t file : rest) dead_files_.add(file);
  const FileSet dead(std::move(rest));
  for (const std::unique_ptr<Shard>& shard : shards_) {
    erased += shard->erase_matching([&](const BlockKey& key) { return dead.has(key.file); });
  }
  give_back();
  return erased;
}

void BlockStore::clear() {
  for (const std::unique_ptr<Shard>& shard : shards_) shard->erase_all();
  give_back();
}

uint64_t BlockStore::erase_matching(FunctionRef<bool(const BlockKey&)> matches) {
  uint64_t erased = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) erased += shard->erase_matching(matches);
  give_back();
  return erased;
}

}  // namespace nvcache
