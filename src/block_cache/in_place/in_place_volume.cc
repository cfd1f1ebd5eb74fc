#include "block_cache/in_place/in_place_volume.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/test_hooks.h"
#include "base/text.h"
#include "base/units.h"

namespace nvcache {
namespace {

// Extents are whole grains: small enough to waste little of a 4 KiB block, large
// enough that a bit each costs 2 bytes per 4 KiB block.
constexpr uint32_t kGrainBytes = 256;

uint32_t choose_grain(const Traits& traits) {
  return std::max(kGrainBytes, traits.io_granularity_bytes);
}

Status check_size(const Config& config, const Traits& traits) {
  const uint32_t grain_bytes = choose_grain(traits);
  const uint64_t most_bytes = SlabSpace::max_bytes(grain_bytes);
  if (config.max_size_bytes <= most_bytes) return ok_status();
  const uint64_t grain_needed_bytes = std::bit_ceil(((config.max_size_bytes - 1) >> 32) + 1);
  return invalid_argument(
      "max_size: {} given; allowed on {}, whose space is handed out in grains of {} bytes: up to "
      "{}; a grain of {} bytes would do: that of a file with io=direct, on a drive with sectors of "
      "that size",
      format_bytes(config.max_size_bytes), traits.name, grain_bytes, format_bytes(most_bytes),
      grain_needed_bytes);
}

}  // namespace

StatusOr<std::unique_ptr<Volume>> InPlaceVolume::open(const Parts& parts) {
  const Traits& traits = parts.medium.traits();
  if (Status status = check_size(parts.config, traits); !status.ok()) return status;
  return std::unique_ptr<Volume>(new InPlaceVolume(parts));
}

InPlaceVolume::InPlaceVolume(const Parts& parts)
    : parts_(parts),
      space_(parts.config.size_bytes, parts.config.max_size_bytes,
             choose_grain(parts.medium.traits())),
      probe_({.medium = parts.medium,
              .health = parts.health,
              .reader = parts.reader,
              .clock = parts.clock,
              .space = space_,
              .places = space_,
              .counters = parts.counters}),
      writer_({.medium = parts.medium,
               .clock = parts.clock,
               .health = parts.health,
               .probe = probe_,
               .space = space_}),
      maintenance_({.name = "nvcache-maint",
                    .interval_seconds = parts.config.maintenance_seconds,
                    .round = [this] { return maintain(), false; }}) {
  if (parts.medium.traits().is_device) {
    write_queue_ = std::make_unique<WriteQueue>(writer_, parts.config.write_queue_bytes);
  }
}

InPlaceVolume::~InPlaceVolume() {
  maintenance_.stop();
  write_queue_.reset();
  probe_.stop();
}

Status InPlaceVolume::start() {
  background_eviction_ =
      BackgroundEviction::make(parts_.shards, parts_.admission, space_, parts_.clock);
  const bool timed = parts_.config.maintenance_seconds > 0 && background_eviction_ != nullptr;
  if (timed && !maintenance_.start()) {
    return resource_exhausted_error("no thread for the cache's maintenance");
  }
  return ok_status();
}

void InPlaceVolume::maintain() {
  if (background_eviction_ != nullptr) background_eviction_->run_pass();
}

// ---- insertion

Reason InPlaceVolume::enter(uint64_t hash, const BlockKey& key, ByteView block,
                            const Freshness& fresh) {
  const auto size_bytes = static_cast<uint32_t>(block.size());
  // All that may fail comes before the block is entered.
  MutableBuffer buffer;
  if (write_queue_ != nullptr) {
    buffer = parts_.reader.make_buffer(size_bytes);
    if (buffer == nullptr && !test_hooks.leak_slots) return Reason::kNoSpace;
  }
  uint64_t offset_grains = 0;
  if (const Reason room = allocate(hash, size_bytes, &offset_grains); room != Reason::kAdmitted) {
    if (room == Reason::kNoSpace && probe_.waits()) probe_.look();
    return room;
  }
  Shard& shard = parts_.shards.of(hash);
  uint32_t slot = 0;
  const Reason reserved =
      shard.reserve(hash, key, size_bytes, offset_grains, fresh.generation, fresh.expected, &slot);
  if (reserved != Reason::kAdmitted) {
    space_.release(offset_grains, size_bytes);
    return reserved;
  }
  // Allocated before a shrink that found it in no shard.
  if (!space_.is_within_limit(offset_grains, size_bytes)) {
    shard.abandon(slot);
    return Reason::kNoSpace;
  }
  if (write_queue_ != nullptr && buffer == nullptr) [[unlikely]]
    return Reason::kNoSpace;  // the hook's leak
  return write(hash, key, slot, space_.to_bytes(offset_grains), block, std::move(buffer));
}

Reason InPlaceVolume::allocate(uint64_t hash, uint32_t size_bytes, uint64_t* offset_grains) {
  if (const std::optional<uint64_t> found = space_.allocate(size_bytes)) {
    *offset_grains = *found;
    return Reason::kAdmitted;
  }
  if (background_eviction_ != nullptr) {
    background_eviction_->note_refused(size_bytes);
    return Reason::kNoSpace;
  }
  if (!parts_.admission.may_evict()) return Reason::kNoSpace;
  if (!parts_.shards.of(hash).outranks_victim(hash)) return Reason::kLessUsed;
  return make_room(hash, size_bytes, offset_grains);
}

// Freed extents need not be neighbours: evicts up to eight times the block's size before giving up.
// The first from its own shard, and then by turns: a large block, or a search for a long run, would
// leave nothing of one shard, however much used.
Reason InPlaceVolume::make_room(uint64_t hash, uint32_t size_bytes, uint64_t* offset_grains) {
  const auto fits = [&] {
    const std::optional<uint64_t> found = space_.allocate(size_bytes);
    *offset_grains = found.value_or(0);
    return found.has_value();
  };
  ShardSet& shards = parts_.shards;
  const uint64_t enough_bytes = std::max<uint64_t>(uint64_t{8} * size_bytes, 256 << 10);
  uint64_t evicted_bytes = shards.evict_one(shards.of(hash));
  if (evicted_bytes > 0 && fits()) return Reason::kAdmitted;
  for (uint32_t without = 0; without < shards.size() && evicted_bytes <= enough_bytes;) {
    const uint32_t freed_bytes = shards.evict_next();
    if (freed_bytes > 0 && fits()) return Reason::kAdmitted;
    evicted_bytes += freed_bytes;
    without = freed_bytes > 0 ? 0 : without + 1;
  }
  return Reason::kNoSpace;
}

Reason InPlaceVolume::write(uint64_t hash, const BlockKey& key, uint32_t slot, uint64_t offset,
                            ByteView block, MutableBuffer buffer) {
  Shard& shard = parts_.shards.of(hash);
  bool probe = false;
  if (parts_.health.off(MediumHealth::Kind::kWrite)) [[unlikely]] {
    probe = parts_.health.may(MediumHealth::Kind::kWrite);
    if (!probe) {
      shard.abandon(slot);
      return Reason::kMediumFailed;
    }
  }
  if (parts_.shards.verifies()) shard.set_checksum(slot, checksum_block(key, block));
  if (write_queue_ != nullptr) {
    return write_later(hash, key, slot, offset, block, std::move(buffer), probe);
  }
  if (!writer_.write_now({offset, block.size()}, block).ok()) {
    shard.abandon(slot, /*failed=*/true);
    return Reason::kMediumFailed;
  }
  shard.publish(slot);
  return Reason::kAdmitted;
}

Reason InPlaceVolume::write_later(uint64_t hash, const BlockKey& key, uint32_t slot,
                                  uint64_t offset, ByteView block, MutableBuffer buffer,
                                  bool probe) {
  Shard& shard = parts_.shards.of(hash);
  const auto size_bytes = static_cast<uint32_t>(block.size());
  const uint32_t padded_bytes = parts_.reader.padded(size_bytes);
  std::copy(block.begin(), block.end(), buffer->data());
  std::fill(buffer->data() + size_bytes, buffer->data() + padded_bytes, std::byte{0});
  if (write_queue_->push({.handle = handle_of(hash, slot),
                          .shard = &shard,
                          .slot = slot,
                          .key = key,
                          .offset = offset,
                          .size_bytes = size_bytes,
                          .padded_bytes = padded_bytes,
                          .bytes = std::move(buffer),
                          .probe = probe})) {
    return Reason::kAdmitted;
  }
  shard.abandon(slot);
  return Reason::kWriteQueueFull;
}

SharedBuffer InPlaceVolume::find_pending(uint64_t hash, uint32_t slot, const BlockKey& key,
                                         uint32_t* size_bytes) const {
  if (write_queue_ == nullptr) return nullptr;
  return write_queue_->find(handle_of(hash, slot), key, size_bytes);
}

// ---- upkeep

void InPlaceVolume::drain() {
  if (write_queue_ != nullptr) write_queue_->drain();
}

Status InPlaceVolume::resize(uint64_t size_bytes) {
  MutexLock lock(resize_mutex_);
  Medium& medium = parts_.medium;
  const uint64_t grain_bytes = space_.grain_bytes();
  const uint64_t least_bytes = std::max<uint64_t>(Config::kMinSizeBytes, grain_bytes);
  if (Status status = check_new_size(size_bytes, least_bytes, parts_.config); !status.ok()) {
    return status;
  }
  // Whole grains: a device takes no other size, and the rest could hold no block.
  size_bytes -= size_bytes % grain_bytes;
  if (size_bytes > space_.limit_bytes()) {
    Status grown = medium.resize(std::max(size_bytes, medium.size_bytes()));
    if (grown.ok()) space_.set_limit(size_bytes);
    return grown;
  }
  space_.set_limit(size_bytes);
  parts_.shards.evict_between(size_bytes / grain_bytes, ~uint64_t{0});
  // Blocks that readers still pin beyond the limit keep their memory until the next resize.
  return medium.resize(
      std::min(std::max({size_bytes, least_bytes, space_.taken_end_bytes()}), medium.size_bytes()));
}

void InPlaceVolume::add_stats(Stats* stats) const {
  stats->pending_bytes = write_queue_ == nullptr ? 0 : write_queue_->pending_bytes();
  stats->set_aside_bytes = space_.set_aside_bytes();
}

}  // namespace nvcache
