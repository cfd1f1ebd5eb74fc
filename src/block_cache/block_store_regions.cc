// A block cache whose space is in regions: how it opens, comes back, appends and closes.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <random>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "base/processors.h"
#include "block_cache/block_store.h"

namespace nvcache {
namespace {

static_assert(Config::kMaxRegionBytes <= RegionWriter::kMostRegionBytes);

// 0: it has no name.
uint64_t owner_of(const Config& config) {
  return config.owner.empty() ? 0 : hash_bytes(config.owner) | 1;
}

uint64_t random_nonce() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

}  // namespace

Status BlockStore::open_regions() {
  RegionWriter::Events events = {
      .wants_room = [this] { region_eviction_->wake(); },
      .wrote = [this](
                   uint64_t bytes,
                   const Status& status) { count_written(static_cast<uint32_t>(bytes), status); },
      .lost =
          [this](uint32_t region, std::span<const BlockRecord> records) {
            probe_->watch();
            probe_->look_ahead();
            region_eviction_->lose(region, records);
          },
  };
  auto opened =
      RegionSpace::open(*medium_,
                        {.size_bytes = config_.size_bytes,
                         .max_size_bytes = config_.max_size_bytes,
                         .region_bytes = config_.region_bytes,
                         .warm = config_.restart == Restart::kWarm,
                         .immutable_keys = config_.immutable_keys,
                         .owner = owner_of(config_),
                         .format = config_.format,
                         .discard = config_.discard,
                         .buffer_bytes = config_.write_queue_bytes,
                         .nonce = config_.region_nonce != 0 ? config_.region_nonce : random_nonce(),
                         .clock = &clock_},
                        std::move(events));
  if (!opened.ok()) return opened.status();
  regions_ = *std::move(opened);
  space_ = regions_.get();
  make_probe(*regions_);
  reader_.set_pending(
      [this](uint64_t offset, MutableBytes into) { return regions_->writer().copy(offset, into); });
  return ok_status();
}

Status BlockStore::start_regions() {
  RegionEviction::Cache cache = {
      // While no block could be written, none leaves for it.
      .may_evict = [this] { return !health_.off() && may_evict(); },
      .hash_of = [this](const BlockKey& key) { return hash_of(key); },
      .shard_of = [this](uint64_t hash) -> Shard& { return shard_of(hash); },
      .read = [this](Shard& shard, const DetachedBlock& block,
                     MutableBytes into) { return read_block(shard, block, into); },
      .demote = [this](Shard& shard, const DetachedBlock& block) { demote(shard, block); },
      .sink = options_.sink,
  };
  region_eviction_ = std::make_unique<RegionEviction>(*regions_, shards_, counters_,
                                                      config_.rewrite, std::move(cache));
  const bool timed = config_.maintenance_seconds > 0 && shards_.front()->evicts_in_passes();
  if (!region_eviction_->start() || (timed && !maintenance_.start()) ||
      (regions_->holds_blocks() && !recovery_.start())) {
    return resource_exhausted_error("no thread for the regions of a cache");
  }
  if (regions_->holds_blocks()) {
    for (const std::unique_ptr<Shard>& shard : shards_) shard->begin_recovery();
  }
  if (Status status = regions_->begin(); !status.ok()) return status;
  if (regions_->holds_blocks()) recovery_.wake();
  return ok_status();
}

// A cache that cannot be closed in order is cold the next time, or, with immutable keys, has what
// was sealed.
void BlockStore::close_regions() {
  if (region_eviction_ == nullptr) return;  // it was not opened to the end
  closing_ = true;
  recovery_.stop();
  region_eviction_->stop();
  probe_->stop();
  if (config_.restart == Restart::kWarm) {
    health_.note(MediumHealth::Kind::kWrite, regions_->close(end_recovery()));
  }
  regions_.reset();  // its threads may still tell of a region that is lost
}

// Not more than the machine has, and no part of the keys without a shard of its own.
uint32_t BlockStore::recovery_threads() const {
  constexpr uint32_t kLeast = 2;
  constexpr uint32_t kMost = 4;
  const uint32_t wanted = config_.restart_threads != 0
                              ? config_.restart_threads
                              : std::clamp(usable_processors(), kLeast, kMost);
  return std::min(wanted, static_cast<uint32_t>(shards_.size()));
}

RecoveryPlan BlockStore::plan_recovery() {
  return {
      .threads = recovery_threads(),
      .bytes_per_second = static_cast<double>(config_.restart_bytes_per_second),
      .clock = &clock_,
      .hash_seed = config_.seed,
      .shards = static_cast<uint32_t>(shards_.size()),
      .expect =
          [this](uint32_t shard, uint64_t blocks) {
            // Keys do not spread evenly.
            const uint64_t share = blocks / shards_.size();
            shards_[shard]->expect_blocks(share + share / 32);
          },
      .take = [this](uint32_t shard,
                     std::span<RecoveredBlock> blocks) { recover_blocks(shard, blocks); },
      .stop = [this] { return closing_.load(std::memory_order_relaxed); },
  };
}

bool BlockStore::recover() try {
  if (closing_ || !regions_->recovering()) return false;
  regions_->recover(plan_recovery());
  if (regions_->recovering()) return false;  // told to stop
  (void)end_recovery();
  finish_resize();
  return false;
} catch (const std::bad_alloc&) {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return true;
}

void BlockStore::recover_blocks(uint32_t shard, std::span<RecoveredBlock> blocks) {
  for (RecoveredBlock& block : blocks) {
    block.is_dead = dead_files_.has(block.key.file);
  }
  shards_[shard]->restore(blocks);
}

// Without memory for the keys nothing that was not read comes back.
RegionSpace::Unread BlockStore::end_recovery() noexcept {
  RegionSpace::Unread unread;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    const std::unique_ptr<ErasedKeys> erased = shard->end_recovery();
    if (erased == nullptr) continue;
    try {
      unread.keys.insert(unread.keys.end(), erased->keys().begin(), erased->keys().end());
    } catch (const std::bad_alloc&) {
      unread.all = true;
    }
    unread.all = unread.all || erased->all();
  }
  return unread;
}

bool BlockStore::read_block(Shard& shard, const DetachedBlock& block, MutableBytes into) {
  const Extent extent{space_->to_bytes(block.word.offset_grains()), block.word.size_bytes()};
  if (reader_.read(extent, into) != Fetch::kOk) return false;
  if (checksum_block(block.key, into) == shard.checksum(block.slot)) return true;
  shard.remove_damaged(hash_of(block.key), block.slot);
  return false;
}

Verdict BlockStore::append(uint64_t hash, const BlockKey& key, ByteView block,
                           const Freshness& fresh) {
  const auto size_bytes = static_cast<uint32_t>(block.size());
  Shard& shard = shard_of(hash);
  RegionSpace::Spot spot;
  if (const Reason room = regions_->append(size_bytes, &spot); room != Reason::kAdmitted) {
    if (room == Reason::kNoSpace && probe_->waits()) probe_->look();
    return refuse(room);
  }
  uint32_t slot = 0;
  const Reason reserved =
      shard.reserve(hash, key, size_bytes, spot.place, fresh.generation, fresh.expected, &slot);
  if (reserved != Reason::kAdmitted) {
    regions_->cancel(spot, size_bytes);
    return refuse(reserved);
  }
  std::memcpy(spot.bytes, block.data(), size_bytes);
  const uint32_t checksum = checksum_block(key, block);
  shard.set_checksum(slot, checksum);
  spot.record->key = key;
  spot.record->size_bytes = size_bytes;
  spot.record->checksum = checksum;
  shard.publish(slot);
  regions_->finish(spot);
  return Verdict::admit();
}

}  // namespace nvcache
