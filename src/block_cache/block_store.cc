#include "block_cache/block_store.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/no_memory.h"
#include "base/test_hooks.h"
#include "base/text.h"
#include "base/units.h"
#include "fmt/format.h"
#include "policy/admission/make_admission.h"
#include "policy/eviction/make_eviction.h"

namespace nvcache {
namespace {

// Extents are whole grains: small enough to waste little of a 4 KiB block, large
// enough that a bit each costs 2 bytes per 4 KiB block.
constexpr uint32_t kGrainBytes = 256;
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

// In regions always: a reader may come too late for a block of a region that was lost.
bool choose_verify(const Config& config, const Traits& traits) {
  if (config.space == SpaceKind::kRegions) return true;
  if (config.verify == Verify::kAuto) return traits.reads != Reads::kInPlace;
  return config.verify == Verify::kAlways;
}

// As the medium is read, and as this cache wants it. What is in regions may not be there yet: it is
// copied from where it waits.
Reads choose_reads(const Config& config, const Traits& traits) {
  if (config.space == SpaceKind::kRegions) return Reads::kByCopy;
  if (traits.reads >= Reads::kInPlaceAsked) return traits.reads;
  return choose_verify(config, traits) ? Reads::kInPlaceChecked : Reads::kInPlace;
}

}  // namespace

StatusOr<std::unique_ptr<AdmissionPolicy>> BlockStore::make_admission_of(const Config& config) {
  return make_admission(config.admission,
                        {.cache_size_bytes = config.max_size_bytes, .seed = config.seed});
}

StatusOr<std::unique_ptr<BlockStore>> BlockStore::make(const Config& config,
                                                       std::unique_ptr<Medium> medium, Clock& clock,
                                                       const Options& options) {
  StatusOr<std::unique_ptr<AdmissionPolicy>> admission = make_admission_of(config);
  if (!admission.ok()) return admission.status();
  auto store = std::make_unique<BlockStore>(config, std::move(medium), clock, options,
                                            *std::move(admission));
  if (Status status = store->open(); !status.ok()) return status;
  return store;
}

Status BlockStore::open() {
  if (Status status = open_space(); !status.ok()) return status;
  const uint32_t shards = choose_shards(config_);
  const Shard::Options options = {.max_slots = choose_max_slots(config_, shards),
                                  .hash_seed = config_.seed,
                                  .checksums = verify_,
                                  .references = options_.count_references};
  const uint64_t shard_chunks = options.max_slots / EntryPool::kChunkEntries + 1;
  pool_ = std::make_unique<EntryPool>(shards * shard_chunks);
  const EvictionContext context = {.max_slots = options.max_slots,
                                   .learning = make_shared_learning()};
  for (uint32_t i = 0; i < shards; ++i) {
    StatusOr<std::unique_ptr<EvictionPolicy>> eviction = make_eviction(config_.eviction, context);
    if (!eviction.ok()) return eviction.status();
    shards_.push_back(
        std::make_unique<Shard>(options, *std::move(eviction), *pool_, *space_, counters_));
  }
  return regions_ != nullptr ? start_regions() : start_background_eviction();
}

BlockStore::BlockStore(const Config& config, std::unique_ptr<Medium> medium, Clock& clock,
                       const Options& options, std::unique_ptr<AdmissionPolicy> admission)
    : config_(config),
      options_(options),
      medium_(std::make_unique<MeteredMedium>(std::move(medium), clock)),
      clock_(clock),
      admission_(std::move(admission)),
      totals_interval_(admission_->totals_interval()),
      health_(counters_, clock),
      reader_(*medium_, health_, counters_, choose_reads(config, medium_->traits())),
      verify_(choose_verify(config, medium_->traits())),
      generations_(options.tokens),
      dead_files_(clock),
      recovery_({.name = "nvcache-recover", .round = [this] { return recover(); }}),
      maintenance_({.name = "nvcache-maint",
                    .interval_seconds = config.maintenance_seconds,
                    .round = [this] { return maintain(), false; }}) {}

Status BlockStore::open_space() {
  return config_.space == SpaceKind::kRegions ? open_regions() : open_in_place();
}

Status BlockStore::open_in_place() {
  const Traits& traits = medium_->traits();
  if (Status status = check_size(config_, traits); !status.ok()) return status;
  in_place_ =
      std::make_unique<SlabSpace>(config_.size_bytes, config_.max_size_bytes, choose_grain(traits));
  space_ = in_place_.get();
  make_probe(*in_place_);
  if (!traits.is_device) return ok_status();
  // Served from the queue until it is live; its writer's pin keeps its slot until it has left.
  const auto written = [this](const PendingBlock& block, const Status& status) {
    if (status.code() != WriteQueue::kNotAsked) count_written(block.padded_bytes, status);
    if (status.ok()) shard_at(block.handle).publish_pinned(slot_at(block.handle));
  };
  const auto left = [this](const PendingBlock& block, const Status& status) {
    Shard& shard = shard_at(block.handle);
    if (status.ok()) return shard.unpin(slot_at(block.handle));
    if (status.code() == WriteQueue::kNotAsked) {
      return shard.abandon(slot_at(block.handle), /*failed=*/true);
    }
    lose(shard, slot_at(block.handle), {block.offset, block.padded_bytes});
  };
  // What waits when the medium is switched off, or its place is set aside, is lost.
  const auto may_write = [this](const PendingBlock& block) {
    if (block.probe) return true;
    return !health_.off(MediumHealth::Kind::kWrite) &&
           !in_place_->is_set_aside({block.offset, block.padded_bytes});
  };
  write_queue_ = std::make_unique<WriteQueue>(*medium_, config_.write_queue_bytes,
                                              WriteQueue::Events{written, left, may_write});
  return ok_status();
}

Status BlockStore::start_background_eviction() {
  background_eviction_ = BackgroundEviction::make(
      shards_, *space_, clock_,
      {.may_evict = [this] { return may_evict(); },
       .evict_one = [this](Shard& shard) { return evict_one(shard) != 0; }});
  if (config_.maintenance_seconds > 0 && background_eviction_ != nullptr && !maintenance_.start()) {
    return resource_exhausted_error("no thread for the cache's maintenance");
  }
  return ok_status();
}

BlockStore::~BlockStore() {
  maintenance_.stop();
  if (!maintenance_.is_in_this_process()) {
    // Their locks may be held for ever, and what they write is their parent's.
    (void)region_eviction_.release();
    (void)regions_.release();
    (void)write_queue_.release();
  }
  write_queue_.reset();
  if (probe_ != nullptr) probe_->stop();
  close_regions();
}

// ---- insertion

Verdict BlockStore::enter(uint64_t hash, const BlockKey& key, ByteView block,
                          const Freshness& fresh) {
  if (regions_ != nullptr) return append(hash, key, block, fresh);
  const auto size_bytes = static_cast<uint32_t>(block.size());
  Shard& shard = shard_of(hash);
  // What may fail comes before the block is entered.
  MutableBuffer buffer;
  if (write_queue_ != nullptr) {
    buffer = reader_.make_buffer(size_bytes);
    if (buffer == nullptr && !test_hooks.leak_slots) return refuse(Reason::kNoSpace);
  }
  uint64_t offset_grains = 0;
  if (const Reason room = allocate(hash, size_bytes, &offset_grains); room != Reason::kAdmitted) {
    if (room == Reason::kNoSpace && probe_->waits()) probe_->look();
    return refuse(room);
  }
  uint32_t slot = 0;
  const Reason reserved =
      shard.reserve(hash, key, size_bytes, offset_grains, fresh.generation, fresh.expected, &slot);
  if (reserved != Reason::kAdmitted) {
    space_->release(offset_grains, size_bytes);
    return refuse(reserved);
  }
  // Allocated before a shrink that found it in no shard.
  if (!in_place_->is_within_limit(offset_grains, size_bytes)) {
    shard.abandon(slot);
    return refuse(Reason::kNoSpace);
  }
  if (write_queue_ != nullptr && buffer == nullptr) [[unlikely]]
    return refuse(Reason::kNoSpace);  // the hook's leak
  return write_block(hash, key, slot, offset_grains, block, std::move(buffer));
}

Reason BlockStore::allocate(uint64_t hash, uint32_t size_bytes, uint64_t* offset_grains) {
  const auto fits = [&] {
    const std::optional<uint64_t> found = in_place_->allocate(size_bytes);
    *offset_grains = found.value_or(0);
    return found.has_value();
  };
  if (fits()) return Reason::kAdmitted;
  const uint64_t first = shard_number(hash);
  if (background_eviction_ != nullptr) {
    background_eviction_->note_refused(size_bytes);
    return Reason::kNoSpace;
  }
  if (!may_evict()) return Reason::kNoSpace;
  if (!shards_[first]->outranks_victim(hash)) return Reason::kLessUsed;
  // Freed extents need not be neighbours: evict up to eight times the block's size before giving
  // up. The first from its own shard, and then by turns: a large block, or a search for a long run,
  // would leave nothing of one shard, however much used.
  const uint64_t enough_bytes = std::max<uint64_t>(uint64_t{8} * size_bytes, 256 << 10);
  uint64_t evicted_bytes = evict_one(*shards_[first]);
  if (evicted_bytes > 0 && fits()) return Reason::kAdmitted;
  for (uint64_t without = 0; without < shards_.size() && evicted_bytes <= enough_bytes;) {
    const uint64_t turn = eviction_turn_.fetch_add(1, std::memory_order_relaxed);
    const uint32_t freed_bytes = evict_one(*shards_[turn % shards_.size()]);
    if (freed_bytes > 0 && fits()) return Reason::kAdmitted;
    evicted_bytes += freed_bytes;
    without = freed_bytes > 0 ? 0 : without + 1;
  }
  return Reason::kNoSpace;
}

uint32_t BlockStore::evict_one(Shard& shard) {
  if (options_.sink == nullptr) return shard.evict_one();
  const std::optional<DetachedBlock> block = shard.detach_one(*options_.sink);
  if (!block) return 0;
  demote(shard, *block);
  shard.unpin(block->slot);
  return block->word.size_bytes();
}

// A block that cannot be read, or is damaged, goes no further.
void BlockStore::demote(Shard& shard, const DetachedBlock& block) {
  SharedBuffer copy;
  ByteView bytes;
  const Extent extent{space_->to_bytes(block.word.offset_grains()), block.word.size_bytes()};
  if (reader_.view(extent, &copy, &bytes) != Fetch::kOk) return;
  if (verify_ && checksum_block(block.key, bytes) != shard.checksum(block.slot)) return;
  options_.sink->take(block.key, bytes, block.token);
}

Verdict BlockStore::write_block(uint64_t hash, const BlockKey& key, uint32_t slot,
                                uint64_t offset_grains, ByteView block, MutableBuffer buffer) {
  Shard& shard = shard_of(hash);
  const auto size_bytes = static_cast<uint32_t>(block.size());
  const uint64_t offset = space_->to_bytes(offset_grains);
  bool probe = false;
  if (health_.off(MediumHealth::Kind::kWrite)) [[unlikely]] {
    probe = health_.may(MediumHealth::Kind::kWrite);
    if (!probe) {
      shard.abandon(slot);
      return refuse(Reason::kMediumFailed);
    }
  }
  if (verify_) shard.set_checksum(slot, checksum_block(key, block));
  if (write_queue_ == nullptr) {
    const Status status = write_medium(offset, block);
    count_written(size_bytes, status);
    if (!status.ok()) {
      lose(shard, slot, {offset, size_bytes});
      return refuse(Reason::kMediumFailed);
    }
    shard.publish(slot);
    return Verdict::admit();
  }
  const uint32_t padded_bytes = reader_.padded(size_bytes);
  std::copy(block.begin(), block.end(), buffer->data());
  std::fill(buffer->data() + size_bytes, buffer->data() + padded_bytes, std::byte{0});
  const uint64_t handle = queue_handle(shard_number(hash), slot);
  if (write_queue_->push(
          {handle, key, offset, size_bytes, padded_bytes, std::move(buffer), probe})) {
    return Verdict::admit();
  }
  shard.abandon(slot);
  return refuse(Reason::kWriteQueueFull);
}

Verdict BlockStore::refuse(Reason reason) {
  refused_.add(static_cast<Refusal>(reason), 1);
  return Verdict::refuse(reason);
}

// ---- upkeep

bool BlockStore::contains(const BlockKey& key) const {
  const uint64_t hash = hash_of(key);
  return shards_[shard_number(hash)]->contains(hash, key);
}

void BlockStore::set_dataset_size(uint64_t size_bytes) {
  dataset_size_bytes_.store(size_bytes, std::memory_order_relaxed);
}

void BlockStore::drain() {
  if (write_queue_ != nullptr) write_queue_->drain();
  if (regions_ != nullptr) regions_->writer().drain();
}

void BlockStore::maintain() {
  if (background_eviction_ != nullptr) background_eviction_->run_pass();
  if (regions_ == nullptr) return;
  // Regions are emptied when room is wanted; a policy that works in passes is told the time.
  for (const std::unique_ptr<Shard>& shard : shards_) shard->begin_pass(clock_.now_ns(), 0);
}

}  // namespace nvcache
