#include "block_cache/region/region_space.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/no_memory.h"
#include "base/test_hooks.h"
#include "base/text.h"
#include "base/units.h"
#include "block_cache/index/entry.h"
#include "block_cache/region/aligned_io.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr uint32_t kLeastGrainBytes = 64;
// A file system's block, also where a drive takes 512 bytes: ext4 lets a direct write of less wait
// for all others on the file, and all others for it.
constexpr uint32_t kUsualUnitBytes = 4096;
constexpr uint32_t kLeastBuffers = 4;  // two are open, two are written
constexpr uint32_t kMostBuffers = 1024;
constexpr int kSequenceBits = 32;  // an opening's sequences lie above those of all before
constexpr const char* kNoMemory = "no memory to read the index of a region";

struct Found {
  std::optional<Superblock> superblock;
  absl::Status problem;  // of a copy that is there and cannot be read
};

// The newer of the two copies that are whole.
absl::StatusOr<Found> find_superblock(Medium& medium, uint32_t unit_bytes) {
  Found found;
  for (uint64_t copy = 0; copy < 2; ++copy) {
    AlignedBytes bytes(unit_bytes, unit_bytes);
    if (absl::Status status = medium.read(copy * Geometry::kCopyBytes, bytes.span());
        !status.ok()) {
      return status;
    }
    const auto decoded = Superblock::decode(bytes.span());
    if (!decoded.ok()) {
      found.problem = decoded.status();
      // Who wrote it used the medium since: the other copy is out of date.
      if (absl::IsFailedPrecondition(decoded.status())) return Found{std::nullopt, found.problem};
      continue;
    }
    const std::optional<Superblock>& whole = *decoded;
    if (whole && (!found.superblock || found.superblock->opening < whole->opening)) {
      found.superblock = whole;
    }
  }
  return found;
}

absl::Status refuse(const Medium& medium, const absl::Status& problem) {
  const bool other = absl::IsFailedPrecondition(problem);
  return absl::Status(
      problem.code(),
      fmt::format("medium {}: {}; nothing was changed. Allowed: {}format=yes, which starts an "
                  "empty cache on it",
                  medium.traits().name, message_of(problem),
                  other ? "the version that wrote it, or " : ""));
}

uint32_t choose_buffers(const RegionSpace::Options& options, uint64_t region_bytes) {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(options.buffer_bytes / region_bytes, kLeastBuffers, kMostBuffers));
}

}  // namespace

uint64_t RegionSpace::choose_region_bytes(uint64_t size_bytes) {
  return std::clamp<uint64_t>(std::bit_floor(size_bytes / 128), 2 << 20, 16 << 20);
}

Geometry RegionSpace::choose_geometry(const Options& options, uint32_t unit_bytes) {
  Geometry geometry;
  geometry.unit_bytes = std::max(unit_bytes, kUsualUnitBytes);
  geometry.region_bytes = options.region_bytes != 0 ? options.region_bytes
                                                    : choose_region_bytes(options.max_size_bytes);
  geometry.grain_bytes = kLeastGrainBytes;
  while (EntryWord::max_space_bytes(geometry.grain_bytes) < options.max_size_bytes) {
    geometry.grain_bytes *= 2;
  }
  return geometry;
}

absl::StatusOr<std::unique_ptr<RegionSpace>> RegionSpace::open(Medium& medium,
                                                               const Options& options,
                                                               RegionWriter::Events events) {
  const Geometry geometry = choose_geometry(options, medium.traits().io_granularity_bytes);
  if (geometry.regions_in(options.size_bytes) < kLeastRegions) {
    return invalid_argument(
        "size: {} given; allowed with regions of {}: at least {}, or space=in_place",
        format_bytes(options.size_bytes), format_bytes(geometry.region_bytes),
        format_bytes(geometry.region_at(kLeastRegions)));
  }
  const absl::StatusOr<Found> found = find_superblock(medium, geometry.unit_bytes);
  if (!found.ok()) return found.status();
  const std::optional<Superblock>& last = found->superblock;
  if (!options.format && !last && !found->problem.ok()) return refuse(medium, found->problem);
  Superblock superblock{.geometry = geometry, .nonce = options.nonce};
  bool believed = false;
  Sync sync = Sync::kYes;
  if (last) {
    const Superblock& before = *last;
    believed =
        options.warm && !options.format && before.geometry == geometry && believes(options, before);
    if (believed) superblock = before;
    superblock.opening = before.opening;
    // What lies there stays right whatever of this opening is lost: its regions tell themselves.
    // After a crash a file system may have seconds of work to do for a sync.
    if (believed && before.immutable_keys && options.immutable_keys) sync = Sync::kNo;
  }
  std::unique_ptr<RegionSpace> space(
      new RegionSpace(medium, options, geometry, superblock, believed, std::move(events)));
  if (absl::Status status = space->begin(options.immutable_keys, sync); !status.ok()) return status;
  if (!space->writer_.start()) {
    return absl::ResourceExhaustedError("no thread for the writes of a cache");
  }
  return space;
}

// Who promises immutable keys speaks for this opening's keys, not for those of one that did not.
bool RegionSpace::believes(const Options& options, const Superblock& before) {
  return before.immutable_keys || (before.closed && !options.immutable_keys) ||
         test_hooks.believe_mutable_keys;
}

// An opening knows of the regions of its own size. What lies behind them it could neither remove
// nor list as removed.
uint32_t RegionSpace::believed_regions(const Options& options, const Superblock& before) {
  const bool all = options.immutable_keys || before.regions == 0;
  return all ? ~uint32_t{0} : before.regions;
}

RegionSpace::RegionSpace(Medium& medium, const Options& options, const Geometry& geometry,
                         const Superblock& superblock, bool believed, RegionWriter::Events events)
    : Space(geometry.grain_bytes, Geometry::kHeadBytes),
      medium_(medium),
      geometry_(geometry),
      nonce_(superblock.nonce),
      lists_removals_(options.warm && !options.immutable_keys),
      believed_(believed),
      known_regions_(geometry.regions_in(options.max_size_bytes)),
      believed_regions_(believed_regions(options, superblock)),
      first_sequence_((superblock.opening + 1) << kSequenceBits),
      recovering_(believed),
      discards_(options.discard),
      table_({.regions = known_regions_,
              .limit = geometry.regions_in(options.size_bytes),
              .list_removals = lists_removals_,
              .discards = options.discard,
              .recovers = believed,
              .first_sequence = first_sequence_}),
      writer_({.geometry = geometry,
               .nonce = nonce_,
               .buffers = choose_buffers(options, geometry.region_bytes),
               .spare_regions = kSpareRegions},
              medium, table_, std::move(events)),
      superblock_(superblock) {}

// ---- the superblock and the list of removed blocks

// Writes both copies, one after the other: none is left that calls the medium closed. Without a
// sync the one from before stays: a loss of power may tear what was written since.
absl::Status RegionSpace::begin(bool immutable_keys, Sync sync) {
  MutexLock lock(mutex_);
  if (absl::Status status = load_removed(); !status.ok()) return status;
  if (absl::Status status = load_erased(); !status.ok()) return status;
  superblock_.closed = false;
  superblock_.regions = std::min(believed_regions_, known_regions_);
  superblock_.immutable_keys = immutable_keys;
  const int copies = sync == Sync::kYes ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy) {
    if (absl::Status status = store_superblock(sync); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RegionSpace::store_superblock(Sync sync) {
  ++superblock_.opening;
  AlignedBytes bytes(geometry_.unit_bytes, geometry_.unit_bytes);
  superblock_.encode(bytes.span());
  const uint64_t at = superblock_.opening % 2 * Geometry::kCopyBytes;
  if (absl::Status status = medium_.write(at, bytes.span()); !status.ok()) return status;
  if (absl::Status status = medium_.flush({at, geometry_.unit_bytes}); !status.ok()) return status;
  return sync == Sync::kYes ? medium_.drain() : absl::OkStatus();
}

absl::Status RegionSpace::load_removed() {
  const bool holds = believed_ && lists_removals_ && superblock_.closed;
  if (!holds || superblock_.removed_count == 0 || test_hooks.skip_removed) return absl::OkStatus();
  const uint64_t bytes = uint64_t{superblock_.removed_count} * sizeof(RegionTable::Removed);
  if (bytes > Geometry::kRemovedBytes) return absl::DataLossError("a damaged superblock");
  absl::StatusOr<std::vector<std::byte>> list = read(Geometry::kRemovedAt, bytes);
  if (!list.ok()) return list.status();
  std::vector<RegionTable::Removed> removed(superblock_.removed_count);
  std::memcpy(removed.data(), list->data(), bytes);
  const bool whole = RegionTable::checksum(removed) == superblock_.removed_checksum;
  for (uint32_t region = 0; !whole && region < table_.limit(); ++region) {
    table_.note_removed(region, RegionTable::kWholeRegion);
  }
  for (const RegionTable::Removed& each : removed) {
    if (whole && each.region < table_.limit()) table_.note_removed(each.region, each.offset_grains);
  }
  return absl::OkStatus();
}

absl::Status RegionSpace::store_removed(bool unseen_removals) {
  superblock_.removed_count = 0;
  if (!lists_removals_) return absl::OkStatus();
  std::vector<RegionTable::Removed> removed = table_.removed(unseen_removals);
  constexpr size_t kMost = Geometry::kRemovedBytes / sizeof(RegionTable::Removed);
  RegionTable::shorten(&removed, kMost);
  if (removed.size() > kMost) {
    return absl::ResourceExhaustedError("no room to list the blocks that were removed");
  }
  const uint64_t bytes = removed.size() * sizeof(RegionTable::Removed);
  superblock_.removed_count = static_cast<uint32_t>(removed.size());
  superblock_.removed_checksum = RegionTable::checksum(removed);
  if (bytes == 0) return absl::OkStatus();
  AlignedBytes padded(geometry_.round_up(bytes), geometry_.unit_bytes);
  std::memcpy(padded.span().data(), removed.data(), bytes);
  return medium_.write(Geometry::kRemovedAt, padded.span());
}

absl::Status RegionSpace::load_erased() {
  if (!believed_ || !superblock_.immutable_keys || test_hooks.skip_removed) return absl::OkStatus();
  absl::StatusOr<ErasedList> list =
      ErasedList::load(nonce_, first_sequence_, [this](uint64_t offset, MutableBytes into) {
        const auto bytes = read(offset, into.size());
        if (bytes.ok()) std::memcpy(into.data(), bytes->data(), into.size());
        return bytes.status();
      });
  if (!list.ok()) return list.status();
  erased_ = *std::move(list);
  found_erased_ = erased_;
  return absl::OkStatus();
}

absl::Status RegionSpace::remember_erased(std::span<const BlockKey> keys,
                                          std::span<const uint64_t> files) try {
  MutexLock lock(mutex_);
  if (!superblock_.immutable_keys) return absl::OkStatus();
  // Whatever this opening has written, and what it still writes: a key that is put again later does
  // not come back either. Openings have sequences of their own.
  const uint64_t until = first_sequence_ + (uint64_t{1} << kSequenceBits);
  ErasedList list = erased_;
  for (const BlockKey& key : keys) list.add(key, until);
  for (const uint64_t file : files) list.add({file, ErasedList::kWholeFile}, until);
  list.advance();
  AlignedBytes bytes(geometry_.round_up(list.encoded_bytes()), geometry_.unit_bytes);
  list.encode(nonce_, bytes.span());
  const uint64_t at = Geometry::kRemovedAt + list.number() % 2 * ErasedList::kHalfBytes;
  if (absl::Status status = medium_.write(at, bytes.span()); !status.ok()) return status;
  if (absl::Status status = medium_.flush({at, bytes.span().size()}); !status.ok()) return status;
  if (absl::Status status = medium_.drain(); !status.ok()) return status;
  erased_ = std::move(list);
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory for the list of what was erased");
}

absl::Status RegionSpace::close(bool unseen_removals) try {
  writer_.drain();
  MutexLock lock(mutex_);
  if (absl::Status status = store_removed(unseen_removals); !status.ok()) return status;
  // What was written is durable before it is called complete.
  if (absl::Status status = medium_.drain(); !status.ok()) return status;
  superblock_.closed = true;
  // From here on the list names all that is old in all regions, if all were looked at.
  if (!recovering()) superblock_.regions = known_regions_;
  return store_superblock(Sync::kYes);
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory to list the blocks that were removed");
}

// ---- blocks

void RegionSpace::cancel(const Spot& spot, uint32_t size_bytes) {
  spot.record->size_bytes = 0;
  writer_.finish(spot);
  release(spot.place, size_bytes);
}

bool RegionSpace::discard_one() {
  const std::optional<uint32_t> region = table_.take_to_discard();
  if (!region) return false;
  if (discards()) {
    const absl::Status status =
        medium_.discard({geometry_.region_at(*region), geometry_.region_bytes});
    if (status.ok()) {
      discarded_bytes_.fetch_add(geometry_.region_bytes, std::memory_order_relaxed);
    } else if (!absl::IsOutOfRange(status)) {  // else the medium has shrunk meanwhile
      discard_errors_.fetch_add(1, std::memory_order_relaxed);
      discards_.store(false, std::memory_order_relaxed);
    }
  }
  table_.discarded(*region);
  return true;
}

// ---- what lies there

void RegionSpace::recover(const RecoveryPlan& recovery) {
  RegionRecovery regions({.medium = medium_,
                          .table = table_,
                          .damaged = damaged_,
                          .geometry = geometry_,
                          .nonce = nonce_,
                          .believed = believed_regions_,
                          .erased = found_erased_},
                         recovery);
  if (regions.run()) recovering_.store(false, std::memory_order_release);
}

absl::StatusOr<std::vector<BlockRecord>> RegionSpace::read_records(uint32_t region) try {
  const absl::StatusOr<std::vector<std::byte>> bytes =
      read(geometry_.end_of(region) - RegionFooter::kBytes, RegionFooter::kBytes);
  if (!bytes.ok()) return bytes.status();
  const auto footer = RegionFooter::decode_of(geometry_, nonce_, region, *bytes);
  if (!footer) return absl::DataLossError("a damaged region");
  return read_records(*footer);
} catch (const std::bad_alloc&) {
  return no_memory_status(kNoMemory);
}

absl::StatusOr<std::vector<BlockRecord>> RegionSpace::read_records(const RegionFooter& footer) {
  std::vector<BlockRecord> records(footer.count);
  const uint64_t bytes = footer.count * sizeof(BlockRecord);
  if (bytes == 0) return records;
  const absl::StatusOr<std::vector<std::byte>> raw =
      read(geometry_.end_of(footer.region) - RegionFooter::tail_bytes(footer.count), bytes);
  if (!raw.ok()) return raw.status();
  std::memcpy(records.data(), raw->data(), bytes);
  if (!is_whole(geometry_, nonce_, footer, records)) {
    return absl::DataLossError("a damaged region");
  }
  return records;
}

absl::StatusOr<std::vector<std::byte>> RegionSpace::read(uint64_t offset, uint64_t bytes) {
  const uint64_t begin = geometry_.round_down(offset);
  const uint64_t end = geometry_.round_up(offset + bytes);
  AlignedBytes units(end - begin, geometry_.unit_bytes);
  if (absl::Status status = medium_.read(begin, units.span()); !status.ok()) return status;
  const std::byte* const first = units.span().data() + (offset - begin);
  return std::vector<std::byte>(first, first + bytes);
}

}  // namespace nvcache
