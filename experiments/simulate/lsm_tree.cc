#include "experiments/simulate/lsm_tree.h"

#include <algorithm>

#include "base/assert.h"

namespace nvcache::simulate {
namespace {

constexpr uint64_t kMemtableBytes = 64 << 20;  // write_buffer_size
constexpr uint64_t kFileBytes = 64 << 20;      // target_file_size_base
constexpr uint64_t kLevel1Bytes = 256 << 20;   // max_bytes_for_level_base
constexpr uint64_t kLevelRatio = 10;           // max_bytes_for_level_multiplier

}  // namespace

LsmTree::LsmTree(uint64_t data_bytes, uint64_t blocks, uint32_t scale, double phase)
    : memtable_bytes_(std::max<uint64_t>(kMemtableBytes / scale, 1)),
      file_bytes_(std::max<uint64_t>(kFileBytes / scale, 1)),
      level0_files_(static_cast<uint32_t>(phase * kLevel0Trigger)),
      versions_(blocks),
      next_block_(phase * static_cast<double>(blocks)) {
  uint64_t level_bytes = std::max<uint64_t>(kLevel1Bytes / scale, 1);
  for (; level_bytes < data_bytes; level_bytes *= kLevelRatio) sizes_.push_back(level_bytes);
  sizes_.push_back(data_bytes);
  beyond_.resize(sizes_.size(), static_cast<uint64_t>(phase * static_cast<double>(file_bytes_)));
}

bool LsmTree::has_job() const {
  if (level0_files_ >= kLevel0Trigger && !level0_merging_) return true;
  for (size_t level = 0; level + 1 < sizes_.size(); ++level) {
    if (beyond_[level] >= file_bytes_) return true;
  }
  return false;
}

MergeJob LsmTree::take_job() {
  for (size_t level = sizes_.size() - 1; level-- > 0;) {
    if (beyond_[level] >= file_bytes_) return merge_level(level);
  }
  NVCACHE_ASSERT(level0_files_ >= kLevel0Trigger && !level0_merging_);
  return merge_level0();
}

MergeJob LsmTree::merge_level0() {
  level0_merging_ = true;
  const uint64_t bytes = kLevel0Trigger * memtable_bytes_;
  const bool is_last = sizes_.size() == 1;
  if (is_last) {
    replace_blocks(sizes_[0]);
  } else {
    beyond_[0] += bytes;
  }
  return {.read_bytes = bytes + sizes_[0],
          .written_bytes = is_last ? sizes_[0] : bytes + sizes_[0],
          .level0_files = kLevel0Trigger};
}

MergeJob LsmTree::merge_level(size_t level) {
  beyond_[level] -= file_bytes_;
  const double ratio = static_cast<double>(sizes_[level + 1]) / static_cast<double>(sizes_[level]);
  const auto below_bytes = static_cast<uint64_t>(static_cast<double>(file_bytes_) * ratio);
  const bool is_last = level + 2 == sizes_.size();
  if (is_last) {
    replace_blocks(below_bytes);
  } else {
    beyond_[level + 1] += file_bytes_;
  }
  return {.read_bytes = file_bytes_ + below_bytes,
          .written_bytes = is_last ? below_bytes : file_bytes_ + below_bytes,
          .level0_files = 0};
}

void LsmTree::finish(const MergeJob& job) {
  if (job.level0_files == 0) return;
  level0_files_ -= job.level0_files;
  level0_merging_ = false;
}

void LsmTree::replace_blocks(uint64_t merged_bytes) {
  const auto blocks = static_cast<double>(versions_.size());
  const double share =
      std::min(1.0, static_cast<double>(merged_bytes) / static_cast<double>(sizes_.back()));
  const double end = next_block_ + share * blocks;
  for (auto block = static_cast<uint64_t>(next_block_); block < static_cast<uint64_t>(end);
       ++block) {
    ++versions_[block % versions_.size()];
  }
  next_block_ = end < blocks ? end : end - blocks;
}

}  // namespace nvcache::simulate
