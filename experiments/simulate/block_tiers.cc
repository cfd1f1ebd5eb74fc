#include "experiments/simulate/block_tiers.h"

#include <algorithm>
#include <vector>

#include "base/prng.h"
#include "experiments/simulate/main_memory.h"
#include "experiments/simulate/placed_lru.h"
#include "experiments/simulate/rocksdb_configurations.h"
#include "medium/cost_model.h"

namespace nvcache::simulate {
namespace {

constexpr uint64_t kLineBytes = kBlockEndBytes;
constexpr uint64_t kAsideFrameBytes = 4 << 10;
constexpr auto kBlockGroups = static_cast<uint32_t>(kRocksdbBlockBytes / kLineBytes);

// RocksDB's own block cache, wherever its blocks lie.
class BlockLru {
 public:
  BlockLru(uint64_t blocks, uint64_t places)
      : lru_(static_cast<uint32_t>(blocks), static_cast<uint32_t>(places)), versions_(blocks) {}

  bool find(const BlockName& block) {
    const auto number = static_cast<uint32_t>(block.number);
    ++lookups_;
    if (!lru_.contains(number) || versions_[number] != block.version) return false;
    ++hits_;
    lru_.touch(number);
    return true;
  }
  uint32_t place(const BlockName& block) const {
    return lru_.place(static_cast<uint32_t>(block.number));
  }
  // Gives it a place. One of an older version is replaced: compaction has deleted its file.
  void enter(const BlockName& block) {
    const auto number = static_cast<uint32_t>(block.number);
    versions_[number] = block.version;
    if (lru_.contains(number)) {
      lru_.touch(number);
      return;
    }
    if (lru_.full()) lru_.leave(lru_.coldest());
    lru_.enter(number);
  }

  void count(Result* result) const {
    result->page_lookups = lookups_;
    result->page_hits = hits_;
  }

 private:
  PlacedLru lru_;
  std::vector<uint32_t> versions_;
  uint64_t lookups_ = 0;
  uint64_t hits_ = 0;
};

uint64_t places_of(const Options& options) {
  return options.tier_bytes / options.scale / kRocksdbBlockBytes;
}

class NaiveScm final : public BlockTiers {
 public:
  NaiveScm(const Options& options, const StoredSizes& stored)
      : scm_(*find_profile(options.medium)), blocks_(stored.blocks, places_of(options)) {}

  Found look_up(uint64_t now_ns, const BlockName& block, double) override {
    if (!blocks_.find(block)) return {.hit = false, .in_first_tier = false, .done_ns = now_ns};
    read_bytes_ += kBlockEndBytes + kIntervalBytes;
    const uint64_t restarts_ns = scm_.start_read(now_ns, kBlockEndBytes);
    return {.hit = true,
            .in_first_tier = true,
            .done_ns = scm_.start_read(restarts_ns, kIntervalBytes)};
  }
  uint64_t insert(uint64_t now_ns, const BlockName& block) override {
    blocks_.enter(block);
    written_bytes_ += kRocksdbBlockBytes;
    return scm_.start_write(now_ns, kRocksdbBlockBytes);
  }
  void count(Result* result) const override {
    blocks_.count(result);
    result->nvram_read_bytes = read_bytes_;
    result->nvram_written_bytes = written_bytes_;
  }

 private:
  CostModel scm_;
  BlockLru blocks_;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
};

// Pages of the memory are frames of filters and indexes, and its blocks the block cache's.
class MemoryModeBlocks final : public BlockTiers {
 public:
  MemoryModeBlocks(const Options& options, const StoredSizes& stored)
      : stored_blocks_(stored.blocks),
        filter_groups_(std::max<uint64_t>(1, stored.filter_bytes / kLineBytes)),
        index_groups_(std::max<uint64_t>(1, stored.index_bytes / kLineBytes)),
        memory_(make_memory_mode(options.dram_bytes / options.scale,
                                 options.nvram_bytes / options.scale, *find_profile(options.medium),
                                 {.pages = static_cast<uint32_t>(
                                      (filter_groups_ + index_groups_) / kAsideFrameGroups + 1),
                                  .blocks = static_cast<uint32_t>(places_of(options)),
                                  .page_bytes = kAsideFrameBytes,
                                  .block_bytes = kRocksdbBlockBytes,
                                  .group_bytes = kLineBytes},
                                 mix64(options.seed))),
        blocks_(stored.blocks, places_of(options)) {}

  // Each of the accesses waits for the one before.
  Found look_up(uint64_t now_ns, const BlockName& block, double at) override {
    const auto pair = static_cast<uint64_t>(at * kBlockGroups);
    const uint64_t filter = mix64(block.number * kBlockGroups + pair) % filter_groups_;
    now_ns = memory_->load(now_ns, aside(filter));
    const uint64_t index = block.number * index_groups_ / stored_blocks_ % index_groups_;
    now_ns = memory_->load(now_ns, aside(filter_groups_ + index));
    if (!blocks_.find(block)) return {.hit = false, .in_first_tier = false, .done_ns = now_ns};
    const uint32_t place = blocks_.place(block);
    constexpr auto kGroups = static_cast<uint32_t>(kIntervalBytes / kLineBytes);
    const uint32_t first = static_cast<uint32_t>(at * kIntervalsOfBlock) * kGroups;
    now_ns = memory_->load(now_ns, {Kind::kBlock, place, kBlockGroups - 1, 1});
    now_ns = memory_->load(now_ns, {Kind::kBlock, place, first, kGroups});
    return {.hit = true, .in_first_tier = true, .done_ns = now_ns};
  }
  uint64_t insert(uint64_t now_ns, const BlockName& block) override {
    blocks_.enter(block);
    return memory_->store(now_ns, {Kind::kBlock, blocks_.place(block), 0, 0});
  }
  void count(Result* result) const override {
    blocks_.count(result);
    memory_->count(result);
  }

 private:
  static constexpr uint64_t kAsideFrameGroups = kAsideFrameBytes / kLineBytes;

  static Part aside(uint64_t group) {
    return {Kind::kPage, static_cast<uint32_t>(group / kAsideFrameGroups),
            static_cast<uint32_t>(group % kAsideFrameGroups), 1};
  }

  const uint64_t stored_blocks_;
  const uint64_t filter_groups_;
  const uint64_t index_groups_;
  const std::unique_ptr<MainMemory> memory_;
  BlockLru blocks_;
};

}  // namespace

std::unique_ptr<BlockTiers> make_naive_scm(const Options& options, const StoredSizes& stored) {
  return std::make_unique<NaiveScm>(options, stored);
}

std::unique_ptr<BlockTiers> make_memory_mode_blocks(const Options& options,
                                                    const StoredSizes& stored) {
  return std::make_unique<MemoryModeBlocks>(options, stored);
}

std::unique_ptr<BlockTiers> make_block_tiers(const Options& options, const StoredSizes& stored) {
  switch (find_rocksdb_configuration(options.configuration)->kind) {
    case BlockCacheKind::kNaiveScm:
      return make_naive_scm(options, stored);
    case BlockCacheKind::kMemoryMode:
      return make_memory_mode_blocks(options, stored);
    case BlockCacheKind::kTiered:
    case BlockCacheKind::kCopied:
      break;
  }
  return make_tiered_blocks(options);
}

}  // namespace nvcache::simulate
