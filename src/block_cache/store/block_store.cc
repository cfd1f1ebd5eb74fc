#include "block_cache/store/block_store.h"

#include <new>
#include <utility>
#include <vector>

#include "base/no_memory.h"
#include "block_cache/index/file_set.h"
#include "block_cache/store/layouts.h"

namespace nvcache {
namespace {

bool choose_verify(const Config& config, const Traits& traits) {
  if (layout_of(config.space).reads_copies) return true;
  if (config.verify == Verify::kAuto) return traits.reads != Reads::kInPlace;
  return config.verify == Verify::kAlways;
}

// How blocks are read: by the ways of the medium, and the wishes of this cache.
Reads choose_reads(const Config& config, const Traits& traits) {
  if (layout_of(config.space).reads_copies) return Reads::kByCopy;
  if (traits.reads >= Reads::kInPlaceAsked) return traits.reads;
  return choose_verify(config, traits) ? Reads::kInPlaceChecked : Reads::kInPlace;
}

}  // namespace

StatusOr<std::unique_ptr<BlockStore>> BlockStore::make(const Config& config,
                                                       std::unique_ptr<Medium> medium, Clock& clock,
                                                       const Options& options) {
  StatusOr<std::unique_ptr<AdmissionPolicy>> admission = AdmissionControl::policy_of(config);
  if (!admission.ok()) return admission.status();
  auto store = std::make_unique<BlockStore>(config, std::move(medium), clock, options,
                                            *std::move(admission));
  if (Status status = store->open(); !status.ok()) return status;
  return store;
}

BlockStore::BlockStore(const Config& config, std::unique_ptr<Medium> medium, Clock& clock,
                       const Options& options, std::unique_ptr<AdmissionPolicy> admission)
    : config_(config),
      medium_(std::make_unique<MeteredMedium>(std::move(medium), clock)),
      clock_(clock),
      health_(counters_, clock),
      reader_(*medium_, health_, counters_, choose_reads(config, medium_->traits())),
      generations_(options.tokens),
      gone_files_(clock),
      admission_(std::move(admission), counters_, *medium_, clock),
      shards_(config_,
              {.verify = choose_verify(config, medium_->traits()),
               .count_references = options.count_references,
               .sink = options.sink},
              reader_, counters_) {}

Status BlockStore::open() {
  auto opened = layout_of(config_.space)
                    .open({.config = config_,
                           .medium = *medium_,
                           .clock = clock_,
                           .counters = counters_,
                           .health = health_,
                           .reader = reader_,
                           .shards = shards_,
                           .admission = admission_,
                           .gone_files = gone_files_});
  if (!opened.ok()) return opened.status();
  volume_ = *std::move(opened);
  pending_ = volume_->keeps_pending() ? volume_.get() : nullptr;
  if (Status status = shards_.open(volume_->space()); !status.ok()) return status;
  return volume_->start();
}

BlockStore::~BlockStore() {
  // In a child of the process that made it: the volume's locks may be held for ever, and what its
  // threads write is their parent's.
  if (!home_.is_here()) (void)volume_.release();
  volume_.reset();  // the shards are still there
}

// ---- offers

Verdict BlockStore::put(const BlockKey& key, ByteView block, Origin origin,
                        const Freshness& fresh) {
  const uint64_t hash = hash_of(key);
  const Verdict verdict = judge(hash, key, block.size(), origin);
  return verdict.admitted() ? enter(hash, key, block, fresh) : verdict;
}

// No lock is held while a policy of the whole cache is asked; the shard's own policy is asked under
// the shard's lock.
Verdict BlockStore::judge(uint64_t hash, const BlockKey& key, uint64_t size_bytes, Origin origin) {
  if (size_bytes == 0 || size_bytes > kMaxBlockBytes) return refuse(Reason::kBadSize);
  const auto asked_bytes = static_cast<uint32_t>(size_bytes);
  if (!shards_.space().can_hold(asked_bytes)) return refuse(Reason::kNoSpace);
  if (health_.off() && !volume_->probe().lets_pass()) [[unlikely]]
    return refuse(Reason::kMediumFailed);
  if (gone_files_.has(key.file)) return refuse(Reason::kStaleToken);
  Shard& shard = shards_.of(hash);
  if (shard.contains(hash, key)) return refuse(Reason::kDuplicate);
  const bool worth_it = shard.offer(hash, asked_bytes);
  const Verdict verdict =
      admission_.admit({.key = key, .key_hash = hash, .size_bytes = asked_bytes, .origin = origin});
  if (!verdict.admitted()) return refuse(verdict.reason);
  if (!worth_it) return refuse(Reason::kLessUsed);
  return verdict;
}

Verdict BlockStore::refuse(Reason reason) {
  refused_.add(static_cast<Refusal>(reason), 1);
  return Verdict::refuse(reason);
}

// ---- erasing: each shard notes what was erased for good while blocks come back after a restart;
// what must hold over a crash is written before this returns

StatusOr<uint64_t> BlockStore::erase(const Blocks& blocks, Gone gone) {
  uint64_t erased = 0;
  for (const BlockKey& key : blocks.keys) erased += erase(key, gone) ? 1 : 0;
  if (gone == Gone::kMayReturn) {
    erased += erase_gone_files(blocks.files);
  } else {
    for (const uint64_t file : blocks.files) erased += erase_file(file);
  }
  if (gone != Gone::kDurable) return erased;
  Status durable = volume_->remember_erased(blocks.keys, blocks.files);
  if (!durable.ok()) return durable;
  return erased;
}

bool BlockStore::erase(const BlockKey& key, Gone gone) {
  const uint64_t hash = hash_of(key);
  const bool erased = shards_.of(hash).erase(
      hash, key, gone, generations_.kept() ? &generations_.of(hash) : nullptr);
  volume_->note_erased();
  return erased;
}

uint64_t BlockStore::erase_file(uint64_t file) {
  generations_.move_all();  // of none, if they are not kept
  const uint64_t erased = shards_.erase_file(file);
  volume_->note_erased();
  return erased;
}

uint64_t BlockStore::erase_gone_files(std::span<const uint64_t> files) {
  if (files.empty()) return 0;
  uint64_t erased = 0;
  std::vector<uint64_t> rest(files.begin(), files.end());
  if (std::erase(rest, GoneFiles::kNone) > 0) erased += erase_file(GoneFiles::kNone);
  for (const uint64_t file : rest) gone_files_.add(file);
  const FileSet gone(std::move(rest));
  return erased + erase_matching([&](const BlockKey& key) { return gone.has(key.file); });
}

void BlockStore::clear() {
  shards_.erase_all();
  volume_->note_erased();
}

uint64_t BlockStore::erase_matching(FunctionRef<bool(const BlockKey&)> matches) {
  const uint64_t erased = shards_.erase_matching(matches);
  volume_->note_erased();
  return erased;
}

// ---- upkeep

bool BlockStore::contains(const BlockKey& key) const {
  const uint64_t hash = hash_of(key);
  return shards_.of(hash).contains(hash, key);
}

Status BlockStore::resize(uint64_t size_bytes) try {
  return volume_->resize(size_bytes);
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory to resize the cache");
}

double BlockStore::used_share() const {
  const Space& space = shards_.space();
  const uint64_t limit_bytes = space.limit_bytes();
  if (limit_bytes == 0) return 1;
  return static_cast<double>(space.used_bytes()) / static_cast<double>(limit_bytes);
}

Stats BlockStore::stats() const {
  Stats stats;
  read_counters(counters_, &stats);
  for (size_t i = 0; i < kReasonCount; ++i) {
    stats.refused[i] = refused_.sum(static_cast<Refusal>(i));
  }
  // In place, a hit is the read.
  if (reader_.reads() != Reads::kByCopy) stats.medium_read_bytes = counters_.sum(Count::kHitBytes);
  stats.blocks = stats.inserts + stats.recovered_blocks - stats.removals;
  stats.data_bytes = counters_.sum(Count::kInsertedBytes) + counters_.sum(Count::kRecoveredBytes) -
                     counters_.sum(Count::kRemovedBytes);
  const Space& space = shards_.space();
  stats.used_bytes = space.used_bytes();
  stats.size_bytes = space.limit_bytes();
  stats.metadata_bytes = space.metadata_bytes() + shards_.metadata_bytes();
  stats.failed = health_.off() ? 1 : 0;
  stats.medium = medium_->traits().name;
  stats.eviction = config_.eviction;
  admission_.add_stats(&stats);
  volume_->add_stats(&stats);
  return stats;
}

}  // namespace nvcache
