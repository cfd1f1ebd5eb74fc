#include "block_cache/index/shard_set.h"

#include <algorithm>
#include <bit>
#include <new>
#include <optional>
#include <utility>

#include "policy/eviction/make_eviction.h"

namespace nvcache {
namespace {

constexpr uint64_t kShardBytes = uint64_t{256} << 20;  // medium per shard, when large
constexpr uint64_t kSmallShardBytes = uint64_t{1} << 20;
constexpr uint32_t kUsualShards = 16;
constexpr uint32_t kMinBlockBytes = 512;  // blocks the metadata is dimensioned for

uint32_t choose_shards(const Config& config) {
  if (config.shards != 0) return config.shards;
  const uint64_t small =
      std::clamp<uint64_t>(config.size_bytes / kSmallShardBytes, 1, kUsualShards);
  const uint64_t large = config.max_size_bytes / kShardBytes;
  return static_cast<uint32_t>(
      std::min<uint64_t>(std::bit_floor(std::max(small, large)), Config::kMaxShards));
}

// Twice an even share of the smallest usual blocks: keys do not spread evenly.
uint32_t choose_max_slots(const Config& config, uint32_t shards) {
  const uint64_t blocks = config.max_size_bytes / kMinBlockBytes;
  return static_cast<uint32_t>(
      std::min<uint64_t>(blocks / shards * (shards == 1 ? 1 : 2) + 64, BlockIndex::kMaxSlots));
}

}  // namespace

Status ShardSet::open(Space& space) {
  space_ = &space;
  const uint32_t shards = choose_shards(config_);
  const Shard::Options options = {.max_slots = choose_max_slots(config_, shards),
                                  .hash_seed = config_.seed,
                                  .checksums = options_.verify,
                                  .references = options_.count_references};
  const uint64_t shard_chunks = options.max_slots / EntryPool::kChunkEntries + 1;
  pool_ = std::make_unique<EntryPool>(shards * shard_chunks);
  const EvictionContext context = {.max_slots = options.max_slots,
                                   .learning = make_shared_learning()};
  for (uint32_t i = 0; i < shards; ++i) {
    StatusOr<std::unique_ptr<EvictionPolicy>> eviction = make_eviction(config_.eviction, context);
    if (!eviction.ok()) return eviction.status();
    shards_.push_back(
        std::make_unique<Shard>(options, *std::move(eviction), *pool_, space, counters_));
  }
  return ok_status();
}

bool ShardSet::intact(uint64_t hash, const BlockKey& key, uint32_t slot, ByteView block) const {
  if (!options_.verify) return true;
  Shard& shard = of(hash);
  if (checksum_block(key, block) == shard.checksum(slot)) return true;
  shard.remove_damaged(hash, slot);
  return false;
}

bool ShardSet::read(const DetachedBlock& block, MutableBytes into) const {
  return reader_.read(extent_of(block.word), into) == Fetch::kOk &&
         intact(hash_of(block.key), block.key, block.slot, into);
}

void ShardSet::demote(const Shard& shard, const DetachedBlock& block) const {
  SharedBuffer copy;
  ByteView bytes;
  if (reader_.view(extent_of(block.word), &copy, &bytes) != Fetch::kOk) return;
  if (options_.verify && checksum_block(block.key, bytes) != shard.checksum(block.slot)) return;
  options_.sink->take(block.key, bytes, block.token);
}

uint32_t ShardSet::evict_one(Shard& shard) const {
  if (options_.sink == nullptr) return shard.evict_one();
  const std::optional<DetachedBlock> block = shard.detach_one(*options_.sink);
  if (!block) return 0;
  demote(shard, *block);
  shard.unpin(block->slot);
  return block->word.size_bytes();
}

void ShardSet::evict_between(uint64_t first_grain, uint64_t end_grain) const {
  for (const std::unique_ptr<Shard>& shard : shards_) shard->evict_between(first_grain, end_grain);
}

uint64_t ShardSet::erase_file(uint64_t file) const {
  uint64_t erased = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) erased += shard->erase_file(file);
  return erased;
}

uint64_t ShardSet::erase_matching(FunctionRef<bool(const BlockKey&)> matches) const {
  uint64_t erased = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) erased += shard->erase_matching(matches);
  return erased;
}

uint64_t ShardSet::erase_all() const {
  uint64_t erased = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) erased += shard->erase_all();
  return erased;
}

void ShardSet::begin_recovery() const {
  for (const std::unique_ptr<Shard>& shard : shards_) shard->begin_recovery();
}

// Without memory for the keys nothing that was not read comes back.
ErasedSinceOpening ShardSet::end_recovery() const noexcept {
  ErasedSinceOpening all;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    const std::unique_ptr<ErasedKeys> erased = shard->end_recovery();
    if (erased == nullptr) continue;
    try {
      all.keys.insert(all.keys.end(), erased->keys().begin(), erased->keys().end());
    } catch (const std::bad_alloc&) {
      all.all = true;
    }
    all.all = all.all || erased->all();
  }
  return all;
}

uint64_t ShardSet::metadata_bytes() const {
  uint64_t bytes = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) bytes += shard->metadata_bytes();
  return bytes;
}

}  // namespace nvcache
