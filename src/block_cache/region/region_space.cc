#include "block_cache/region/region_space.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/no_memory.h"
#include "base/text.h"
#include "base/units.h"
#include "block_cache/index/entry.h"
#include "block_cache/region/aligned_io.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr uint32_t kLeastGrainBytes = 64;
constexpr uint32_t kLeastBuffers = 4;  // two are open, two are written
constexpr uint32_t kMostBuffers = 1024;
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
    } else if (*decoded && (!found.superblock || found.superblock->opening < (*decoded)->opening)) {
      found.superblock = **decoded;
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
  geometry.unit_bytes = std::max(unit_bytes, Geometry::kLeastUnitBytes);
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
  absl::StatusOr<Found> found = find_superblock(medium, geometry.unit_bytes);
  if (!found.ok()) return found.status();
  if (!options.format && !found->superblock && !found->problem.ok()) {
    return refuse(medium, found->problem);
  }
  const uint64_t opening = found->superblock ? found->superblock->opening : 0;
  std::unique_ptr<RegionSpace> space(new RegionSpace(
      medium, options, geometry, {.geometry = geometry, .nonce = options.nonce, .opening = opening},
      std::move(events)));
  // Both copies, one after the other: none is left that tells of an earlier opening.
  for (int copy = 0; copy < 2; ++copy) {
    if (absl::Status status = space->store_superblock(); !status.ok()) return status;
  }
  if (!space->writer_.start()) {
    return absl::ResourceExhaustedError("no thread for the writes of a cache");
  }
  return space;
}

RegionSpace::RegionSpace(Medium& medium, const Options& options, const Geometry& geometry,
                         const Superblock& superblock, RegionWriter::Events events)
    : Space(geometry.grain_bytes, Geometry::kHeadBytes),
      medium_(medium),
      geometry_(geometry),
      discards_(options.discard),
      table_({.regions = geometry.regions_in(options.max_size_bytes),
              .limit = geometry.regions_in(options.size_bytes),
              .discards = options.discard}),
      writer_({.geometry = geometry,
               .nonce = superblock.nonce,
               .buffers = choose_buffers(options, geometry.region_bytes),
               .spare_regions = kSpareRegions},
              medium, table_, std::move(events)),
      superblock_(superblock) {}

absl::Status RegionSpace::store_superblock() {
  ++superblock_.opening;
  AlignedBytes bytes(geometry_.unit_bytes, geometry_.unit_bytes);
  superblock_.encode(bytes.span());
  const uint64_t at = superblock_.opening % 2 * Geometry::kCopyBytes;
  if (absl::Status status = medium_.write(at, bytes.span()); !status.ok()) return status;
  if (absl::Status status = medium_.flush({at, geometry_.unit_bytes}); !status.ok()) return status;
  return medium_.drain();
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

// ---- indexes

absl::StatusOr<std::vector<BlockRecord>> RegionSpace::read_records(uint32_t region) try {
  const absl::StatusOr<std::vector<std::byte>> bytes =
      read(geometry_.end_of(region) - RegionFooter::kBytes, RegionFooter::kBytes);
  if (!bytes.ok()) return bytes.status();
  const auto footer = RegionFooter::decode_of(geometry_, superblock_.nonce, region, *bytes);
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
  if (!is_whole(geometry_, superblock_.nonce, footer, records)) {
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
