// A block cache whose space is in regions: how it opens, appends and closes.
#include <cstring>
#include <random>
#include <utility>

#include "base/hash.h"
#include "block_cache/block_cache_impl.h"

namespace nvcache {
namespace {

static_assert(Config::kMaxRegionBytes <= RegionWriter::kMostRegionBytes);

uint64_t random_nonce() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

}  // namespace

absl::Status BlockCacheImpl::open_regions() {
  RegionWriter::Events events = {
      .wants_room = [this] { region_eviction_->wake(); },
      .wrote =
          [this](uint64_t bytes, const absl::Status& status) {
            count_written(static_cast<uint32_t>(bytes), status);
          },
      .lost =
          [this](uint32_t region, std::span<const BlockRecord> records) {
            region_eviction_->lose(region, records);
          },
  };
  auto opened = RegionSpace::open(*medium_,
                                  {.size_bytes = config_.size_bytes,
                                   .max_size_bytes = config_.max_size_bytes,
                                   .region_bytes = config_.region_bytes,
                                   .format = config_.format,
                                   .discard = config_.discard,
                                   .buffer_bytes = config_.write_queue_bytes,
                                   .nonce = random_nonce()},
                                  std::move(events));
  if (!opened.ok()) return opened.status();
  regions_ = *std::move(opened);
  space_ = regions_.get();
  reader_.set_pending(
      [this](uint64_t offset, MutableBytes into) { return regions_->writer().copy(offset, into); });
  return absl::OkStatus();
}

absl::Status BlockCacheImpl::start_regions() {
  RegionEviction::Cache cache = {
      .may_evict = [this] { return may_evict(); },
      .hash_of = [this](const BlockKey& key) { return hash_key(key, config_.seed); },
      .shard_of = [this](uint64_t hash) -> Shard& { return shard_of(hash); },
      .read = [this](Shard& shard, const DetachedBlock& block,
                     MutableBytes into) { return read_block(shard, block, into); },
      .demote = [this](Shard& shard, const DetachedBlock& block) { demote(shard, block); },
      .sink = tier_.sink,
  };
  region_eviction_ =
      std::make_unique<RegionEviction>(*regions_, shards_, counters_, std::move(cache));
  const bool timed = config_.maintenance_seconds > 0 && shards_.front()->evicts_in_passes();
  if (!region_eviction_->start() || (timed && !maintenance_.start())) {
    return absl::ResourceExhaustedError("no thread for the regions of a cache");
  }
  return absl::OkStatus();
}

void BlockCacheImpl::close_regions() {
  if (region_eviction_ == nullptr) return;  // it was not opened to the end
  region_eviction_->stop();
  regions_.reset();  // its threads may still tell of a region that is lost
}

bool BlockCacheImpl::read_block(Shard& shard, const DetachedBlock& block, MutableBytes into) {
  const Extent extent{space_->to_bytes(block.word.offset_grains()), block.word.size_bytes()};
  if (!health_.may_access() || reader_.read(extent, into) != Fetch::kOk) return false;
  if (checksum_block(block.key, into) == shard.checksum(block.slot)) return true;
  shard.remove_damaged(hash_key(block.key, config_.seed), block.slot);
  return false;
}

Verdict BlockCacheImpl::append(uint64_t hash, const BlockKey& key, ByteView block,
                               const std::atomic<uint32_t>& generation,
                               std::optional<uint32_t> expected) {
  const auto size_bytes = static_cast<uint32_t>(block.size());
  Shard& shard = shard_of(hash);
  RegionSpace::Spot spot;
  if (const Reason room = regions_->append(size_bytes, &spot); room != Reason::kAdmitted) {
    return refuse(room);
  }
  uint32_t slot = 0;
  const Reason reserved =
      shard.reserve(hash, key, size_bytes, spot.place, generation, expected, &slot);
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
