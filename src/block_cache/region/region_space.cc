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
#include "block_cache/api/config.h"
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
constexpr const char* kNoMemory = "no memory to read the index of a region";

Status refuse(const Medium& medium, const Status& problem) {
  const bool other = is_failed_precondition(problem);
  return Status(
      problem.code(),
      fmt::format("medium {}: {}; nothing was changed. Allowed: {}format=yes, which starts an "
                  "empty cache on it",
                  medium.traits().name, problem.message(),
                  other ? "the version that wrote it, or " : ""));
}

Status refuse_owner(const Medium& medium, const RegionSpace::Options& options) {
  return failed_precondition_error(fmt::format(
      "medium {}: it holds the blocks of {}; nothing was changed. Allowed: the owner's "
      "name, or format=yes, which starts an empty cache on it",
      medium.traits().name, options.owner == 0 ? "an owner, and none is given" : "another owner"));
}

uint32_t choose_buffers(const RegionSpace::Options& options, uint64_t region_bytes) {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(options.buffer_bytes / region_bytes, kLeastBuffers, kMostBuffers));
}

}  // namespace

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

StatusOr<std::unique_ptr<RegionSpace>> RegionSpace::open(Medium& medium, const Options& options,
                                                         RegionWriter::Events events) {
  const Geometry geometry = choose_geometry(options, medium.traits().io_granularity_bytes);
  if (geometry.regions_in(options.size_bytes) < kLeastRegions) {
    return invalid_argument(
        "size: {} given; allowed with regions of {}: at least {}, or space=in_place",
        format_bytes(options.size_bytes), format_bytes(geometry.region_bytes),
        format_bytes(geometry.region_at(kLeastRegions)));
  }
  const RegionHead::Found found = RegionHead::find(medium, geometry.unit_bytes);
  if (!options.format && !found.superblock && !found.problem.ok()) {
    return refuse(medium, found.problem);
  }
  Superblock superblock{.geometry = geometry, .nonce = options.nonce, .owner = options.owner};
  bool believed = false;
  RegionHead::Sync sync = RegionHead::Sync::kYes;
  if (found.superblock) {
    const Superblock& before = *found.superblock;
    const bool others = before.owner != 0 && before.owner != options.owner;
    if (others && !options.format && !test_hooks.believe_others)
      return refuse_owner(medium, options);
    believed =
        options.warm && !options.format && before.geometry == geometry && believes(options, before);
    if (believed) superblock = before;
    superblock.opening = before.opening;
    // The old blocks stay right whatever of this opening is lost: its regions tell themselves.
    // After a crash a file system may have seconds of work to do for a sync.
    if (believed && before.immutable_keys && options.immutable_keys) sync = RegionHead::Sync::kNo;
  }
  std::unique_ptr<RegionSpace> space(
      new RegionSpace(medium, options, superblock, believed, sync, std::move(events)));
  if (!space->writer_.start()) {
    return resource_exhausted_error("no thread for the writes of a cache");
  }
  return space;
}

// Who promises immutable keys speaks for this opening's keys, not for those of one that did not. An
// owner does not speak for blocks of no owner.
bool RegionSpace::believes(const Options& options, const Superblock& before) {
  if (before.owner != options.owner && !test_hooks.believe_others) return false;
  return before.immutable_keys || (before.closed && !options.immutable_keys) ||
         test_hooks.believe_mutable_keys;
}

// An opening knows of the regions of its own size. It could neither remove nor list as removed what
// lies behind them.
uint32_t RegionSpace::believed_regions(const Options& options, const Superblock& before) {
  const bool all = options.immutable_keys || before.regions == 0;
  return all ? ~uint32_t{0} : before.regions;
}

RegionSpace::RegionSpace(Medium& medium, const Options& options, const Superblock& superblock,
                         bool believed, RegionHead::Sync sync, RegionWriter::Events events)
    : Space(superblock.geometry.grain_bytes, Geometry::kHeadBytes),
      medium_(medium),
      geometry_(superblock.geometry),
      nonce_(superblock.nonce),
      immutable_keys_(options.immutable_keys),
      lists_removals_(options.warm && !options.immutable_keys),
      believed_(believed),
      sync_(sync),
      known_regions_(geometry_.regions_in(options.max_size_bytes)),
      believed_regions_(believed_regions(options, superblock)),
      first_sequence_((superblock.opening + 1) << RegionTable::kSequenceBits),
      recovering_(believed),
      discards_(options.discard),
      table_({.regions = known_regions_,
              .limit = geometry_.regions_in(options.size_bytes),
              .list_removals = lists_removals_,
              .discards = options.discard,
              .recovers = believed,
              .believed = believed_regions_,
              .first_sequence = first_sequence_}),
      writer_({.geometry = geometry_,
               .nonce = nonce_,
               .buffers = choose_buffers(options, geometry_.region_bytes),
               .spare_regions = kSpareRegions,
               .clock = options.clock},
              medium, table_, std::move(events)),
      head_(medium, superblock) {
  MutexLock lock(mutex_);
  if (believed_) head_.load_list(first_sequence_);
  found_ = head_.list();
  table_.note_removals(found_);
}

// ---- the head of the medium

Status RegionSpace::begin() {
  MutexLock lock(mutex_);
  const uint32_t regions = std::min(believed_regions_, known_regions_);
  Status status = head_.begin(immutable_keys_, regions, sync_);
  begun_ = status.ok();
  return status;
}

// Keys are listed as long as regions may bring them back that were not read: of what was read, the
// places are known. If there are too many of them, those regions are given up.
void RegionSpace::list_removals(const ErasedSinceOpening& unread, RemovalList* list) {
  const bool some_unread = recovering();
  bool given_up = some_unread && unread.all;
  if (some_unread && !given_up) {
    *list = found_;
    const size_t most = RemovalList::kMostKeys / 2;  // places need room, too
    given_up = list->keys() + unread.keys.size() > most;
    if (!given_up) {
      for (const BlockKey& key : unread.keys) list->add(key, first_sequence_);
    }
  }
  if (given_up) *list = RemovalList();
  table_.list_removals(given_up ? RegionTable::Unknown::kGivenUp : RegionTable::Unknown::kKept,
                       list);
  list->shorten();
}

Status RegionSpace::close(const ErasedSinceOpening& unread) try {
  writer_.drain();
  MutexLock lock(mutex_);
  if (!begun_) return ok_status();
  if (lists_removals_) {
    RemovalList list;
    list_removals(unread, &list);
    Status status = head_.store_list(std::move(list), RegionHead::Half::kAny);
    if (!status.ok()) return status;
  }
  // The writes are durable before they are called complete.
  if (Status status = medium_.drain(); !status.ok()) return status;
  // With mutable keys the list names all that is old in all regions. With immutable ones what lies
  // behind them was looked at, or will be.
  const bool all = lists_removals_ || !recovering();
  return head_.close(all ? known_regions_ : head_.superblock().regions);
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory to list the blocks that were removed");
}

Status RegionSpace::remember_erased(std::span<const BlockKey> keys,
                                    std::span<const uint64_t> files) try {
  if (!immutable_keys_) return ok_status();
  table_.wait_for_sequences();
  MutexLock lock(mutex_);
  // Whatever this opening has written, and what it still writes: a key that is put again later does
  // not come back either. Openings have sequences of their own.
  const uint64_t until = table_.end_of_sequences();
  RemovalList list = head_.list();
  for (const BlockKey& key : keys) list.add(key, until);
  for (const uint64_t file : files) list.add({file, kWholeFile}, until);
  return head_.store_list(std::move(list), RegionHead::Half::kOlder);
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory for the list of what was erased");
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
    const Status status = medium_.discard({geometry_.region_at(*region), geometry_.region_bytes});
    if (status.ok()) {
      discarded_bytes_.fetch_add(geometry_.region_bytes, std::memory_order_relaxed);
    } else if (!is_out_of_range(status)) {  // else the medium has shrunk meanwhile
      discard_errors_.fetch_add(1, std::memory_order_relaxed);
      discards_.store(false, std::memory_order_relaxed);
    }
  }
  table_.discarded(*region);
  return true;
}

std::optional<SetAsidePlace> RegionSpace::take_to_probe(Which which) {
  const uint64_t bytes = std::min(RegionWriter::kPieceBytes, geometry_.region_bytes);
  const auto probe_of = [&](uint32_t region) {
    return Extent{geometry_.end_of(region) - bytes, bytes};
  };
  return table_.take_to_probe(which, probe_of);
}

// ---- what lies there

void RegionSpace::recover(const RecoveryPlan& recovery) {
  RegionRecovery regions({.medium = medium_,
                          .table = table_,
                          .damaged = damaged_,
                          .geometry = geometry_,
                          .nonce = nonce_,
                          .removals = found_},
                         recovery);
  if (regions.run()) recovering_.store(false, std::memory_order_release);
}

StatusOr<std::vector<BlockRecord>> RegionSpace::read_records(uint32_t region) try {
  const StatusOr<std::vector<std::byte>> bytes =
      read(geometry_.end_of(region) - RegionFooter::kBytes, RegionFooter::kBytes);
  if (!bytes.ok()) return bytes.status();
  const auto footer = RegionFooter::decode_of(geometry_, nonce_, region, *bytes);
  if (!footer) return data_loss_error("a damaged region");
  return read_records(*footer);
} catch (const std::bad_alloc&) {
  return no_memory_status(kNoMemory);
}

StatusOr<std::vector<BlockRecord>> RegionSpace::read_records(const RegionFooter& footer) {
  std::vector<BlockRecord> records(footer.count);
  const uint64_t bytes = footer.count * sizeof(BlockRecord);
  if (bytes == 0) return records;
  const StatusOr<std::vector<std::byte>> raw =
      read(geometry_.end_of(footer.region) - RegionFooter::tail_bytes(footer.count), bytes);
  if (!raw.ok()) return raw.status();
  std::memcpy(records.data(), raw->data(), bytes);
  if (!is_whole(geometry_, nonce_, footer, records)) {
    return data_loss_error("a damaged region");
  }
  return records;
}

StatusOr<std::vector<std::byte>> RegionSpace::read(uint64_t offset, uint64_t bytes) {
  const uint64_t begin = geometry_.round_down(offset);
  const uint64_t end = geometry_.round_up(offset + bytes);
  AlignedBytes units(end - begin, geometry_.unit_bytes);
  if (Status status = medium_.read(begin, units.span()); !status.ok()) return status;
  const std::byte* const first = units.span().data() + (offset - begin);
  return std::vector<std::byte>(first, first + bytes);
}

}  // namespace nvcache
