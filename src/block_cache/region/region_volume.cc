#include "block_cache/region/region_volume.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <random>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "base/processors.h"

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

RegionSpace::Options options_of(const Config& config, Clock& clock) {
  return {.size_bytes = config.size_bytes,
          .max_size_bytes = config.max_size_bytes,
          .region_bytes = config.region_bytes,
          .warm = config.restart == Restart::kWarm,
          .immutable_keys = config.immutable_keys,
          .owner = owner_of(config),
          .format = config.format,
          .discard = config.discard,
          .buffer_bytes = config.write_queue_bytes,
          .nonce = config.region_nonce != 0 ? config.region_nonce : random_nonce(),
          .clock = &clock};
}

}  // namespace

StatusOr<std::unique_ptr<Volume>> RegionVolume::open(const Parts& parts) {
  std::unique_ptr<RegionVolume> volume(new RegionVolume(parts));
  if (Status status = volume->open_space(); !status.ok()) return status;
  return std::unique_ptr<Volume>(std::move(volume));
}

RegionVolume::RegionVolume(const Parts& parts)
    : parts_(parts),
      recovery_({.name = "nvcache-recover", .round = [this] { return recover(); }}),
      maintenance_({.name = "nvcache-maint",
                    .interval_seconds = parts.config.maintenance_seconds,
                    .round = [this] { return maintain(), false; }}) {}

Status RegionVolume::open_space() {
  auto opened = RegionSpace::open(parts_.medium, options_of(parts_.config, parts_.clock), events());
  if (!opened.ok()) return opened.status();
  space_ = *std::move(opened);
  probe_ = std::make_unique<MediumProbe>(MediumProbe::Parts{.medium = parts_.medium,
                                                            .health = parts_.health,
                                                            .reader = parts_.reader,
                                                            .clock = parts_.clock,
                                                            .space = *space_,
                                                            .places = *space_,
                                                            .counters = parts_.counters});
  eviction_ = std::make_unique<RegionEviction>(parts_, *space_);
  parts_.reader.set_pending(
      [this](uint64_t offset, MutableBytes into) { return space_->writer().copy(offset, into); });
  return ok_status();
}

RegionWriter::Events RegionVolume::events() {
  return {
      .wants_room = [this] { eviction_->wake(); },
      .wrote = [this](uint64_t bytes, const Status& status) { probe_->note_write(bytes, status); },
      .lost =
          [this](uint32_t region, std::span<const BlockRecord> records) {
            probe_->watch();
            probe_->look_ahead();
            eviction_->lose(region, records);
          },
  };
}

Status RegionVolume::start() {
  started_ = true;
  const bool timed = parts_.config.maintenance_seconds > 0 && parts_.shards.evicts_in_passes();
  const bool recovers = space_->holds_blocks();
  if (!eviction_->start() || (timed && !maintenance_.start()) || (recovers && !recovery_.start())) {
    return resource_exhausted_error("no thread for the regions of a cache");
  }
  if (recovers) parts_.shards.begin_recovery();
  if (Status status = space_->begin(); !status.ok()) return status;
  if (recovers) recovery_.wake();
  return ok_status();
}

RegionVolume::~RegionVolume() {
  maintenance_.stop();
  if (probe_ != nullptr) probe_->stop();
  if (started_) close();
  space_.reset();  // its threads may still tell of a region that is lost
}

// A cache that cannot be closed in order is cold the next time, or, with immutable keys, has what
// was sealed.
void RegionVolume::close() {
  closing_ = true;
  recovery_.stop();
  eviction_->stop();
  if (parts_.config.restart != Restart::kWarm) return;
  parts_.health.note(MediumHealth::Kind::kWrite, space_->close(parts_.shards.end_recovery()));
}

void RegionVolume::maintain() {
  for (const std::unique_ptr<Shard>& shard : parts_.shards.all()) {
    shard->begin_pass(parts_.clock.now_ns(), 0);
  }
}

Reason RegionVolume::enter(uint64_t hash, const BlockKey& key, ByteView block,
                           const Freshness& fresh) {
  const auto size_bytes = static_cast<uint32_t>(block.size());
  RegionSpace::Spot spot;
  if (const Reason room = space_->append(size_bytes, &spot); room != Reason::kAdmitted) {
    if (room == Reason::kNoSpace && probe_->waits()) probe_->look();
    return room;
  }
  Shard& shard = parts_.shards.of(hash);
  uint32_t slot = 0;
  const Reason reserved =
      shard.reserve(hash, key, size_bytes, spot.place, fresh.generation, fresh.expected, &slot);
  if (reserved != Reason::kAdmitted) {
    space_->cancel(spot, size_bytes);
    return reserved;
  }
  std::memcpy(spot.bytes, block.data(), size_bytes);
  const uint32_t checksum = checksum_block(key, block);
  shard.set_checksum(slot, checksum);
  spot.record->key = key;
  spot.record->size_bytes = size_bytes;
  spot.record->checksum = checksum;
  shard.publish(slot);
  space_->finish(spot);
  return Reason::kAdmitted;
}

// ---- after a restart

// Not more than the machine has, and no part of the keys without a shard of its own.
uint32_t RegionVolume::recovery_threads() const {
  constexpr uint32_t kLeast = 2;
  constexpr uint32_t kMost = 4;
  const uint32_t asked = parts_.config.restart_threads;
  const uint32_t wanted = asked != 0 ? asked : std::clamp(usable_processors(), kLeast, kMost);
  return std::min(wanted, parts_.shards.size());
}

bool RegionVolume::recover() try {
  if (closing_ || !space_->recovering()) return false;
  space_->recover({.shards = parts_.shards,
                   .gone_files = parts_.gone_files,
                   .stop = closing_,
                   .threads = recovery_threads(),
                   .bytes_per_second = static_cast<double>(parts_.config.restart_bytes_per_second),
                   .clock = &parts_.clock});
  if (space_->recovering()) return false;  // told to stop
  (void)parts_.shards.end_recovery();
  finish_resize();
  return false;
} catch (const std::bad_alloc&) {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return true;
}

// ---- sizes

Status RegionVolume::resize(uint64_t size_bytes) {
  MutexLock lock(resize_mutex_);
  const Geometry& geometry = space_->geometry();
  const uint64_t least_bytes = geometry.region_at(RegionSpace::kLeastRegions);
  if (Status status = check_new_size(size_bytes, least_bytes, parts_.config); !status.ok()) {
    return status;
  }
  Medium& medium = parts_.medium;
  const uint32_t before = space_->regions();
  const uint32_t wanted = geometry.regions_in(size_bytes);
  if (wanted > before) {
    Status grown = medium.resize(std::max(geometry.region_at(wanted), medium.size_bytes()));
    if (grown.ok()) space_->set_limit(wanted);
    return grown;
  }
  space_->set_limit(wanted);
  space_->writer().drain(RegionWriter::Close::kEmptyToo);
  return shrink_to(wanted);
}

// Nothing is appended beyond that region. While blocks come back, the medium keeps its size.
Status RegionVolume::shrink_to(uint32_t regions) {
  const bool recovering = space_->recovering();
  const Geometry& geometry = space_->geometry();
  eviction_->drop_between(regions, geometry.regions_in(parts_.config.max_size_bytes));
  if (recovering) return ok_status();
  // Blocks that readers still pin beyond the limit keep their space until the next resize.
  const uint32_t needed = std::max(space_->taken_end(), regions);
  return parts_.medium.resize(std::min(geometry.region_at(needed), parts_.medium.size_bytes()));
}

void RegionVolume::finish_resize() {
  MutexLock lock(resize_mutex_);
  if (space_->geometry().end_of(space_->regions()) > parts_.medium.size_bytes()) return;
  parts_.health.note(MediumHealth::Kind::kWrite, shrink_to(space_->regions()));
}

void RegionVolume::add_stats(Stats* stats) const {
  stats->pending_bytes = space_->writer().pending_bytes();
  stats->buffer_bytes = space_->writer().buffer_bytes();
  stats->regions = space_->regions();
  stats->free_regions = space_->free_regions();
  stats->discarded_bytes = space_->discarded_bytes();
  stats->discard_errors = space_->discard_errors();
  stats->damaged_regions = space_->damaged_regions();
  stats->recovering = space_->recovering() ? 1 : 0;
  stats->set_aside_bytes = space_->set_aside_bytes();
}

}  // namespace nvcache
