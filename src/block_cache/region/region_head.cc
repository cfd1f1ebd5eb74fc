#include "block_cache/region/region_head.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/test_hooks.h"
#include "block_cache/region/aligned_io.h"

namespace nvcache {
namespace {

constexpr uint64_t kCopies = 2;

StatusOr<std::optional<Superblock>> read_copy(Medium& medium, uint64_t copy, uint32_t unit_bytes) {
  AlignedBytes bytes(unit_bytes, unit_bytes);
  if (Status status = medium.read(copy * Geometry::kCopyBytes, bytes.span()); !status.ok()) {
    return status;
  }
  return Superblock::decode(bytes.span());
}

// Version 1 lists whole regions among the places.
RemovalList read_version_1(const Superblock& superblock, const RemovalList::Read& read) {
  RemovalList list;
  constexpr uint64_t kAllSequences = ~uint64_t{0};
  std::vector<RemovalList::Place> removed;
  const uint64_t bytes = uint64_t{superblock.version_1.count} * sizeof(RemovalList::Place);
  if (bytes <= Geometry::kRemovedBytes) removed.resize(superblock.version_1.count);
  const MutableBytes into(reinterpret_cast<std::byte*>(removed.data()),
                          removed.size() * sizeof(RemovalList::Place));
  if (removed.empty() || !read(Geometry::kRemovedAt, into).ok() ||
      checksum_of_version_1(removed) != superblock.version_1.checksum) {
    list.forget_all(kAllSequences);
    return list;
  }
  std::vector<RemovalList::Run> outdated;
  for (const RemovalList::Place& each : removed) {
    if (each.offset_grains == kWholeRegionOfVersion1) outdated.push_back({each.region, 1});
  }
  std::erase_if(removed, [](const RemovalList::Place& each) {
    return each.offset_grains == kWholeRegionOfVersion1;
  });
  list.set_places(kAllSequences, std::move(removed), std::move(outdated));
  return list;
}

}  // namespace

RegionHead::Found RegionHead::find(Medium& medium, uint32_t unit_bytes) {
  Found found;
  for (uint64_t copy = 0; copy < kCopies; ++copy) {
    const auto decoded = read_copy(medium, copy, unit_bytes);
    if (!decoded.ok()) {
      found.problem = decoded.status();
      // Who wrote it used the medium since: the other copy is out of date.
      if (is_failed_precondition(decoded.status())) return {std::nullopt, found.problem};
      continue;
    }
    const std::optional<Superblock>& whole = *decoded;
    if (whole && (!found.superblock || found.superblock->opening < whole->opening)) {
      found.superblock = whole;
    }
  }
  return found;
}

// ---- the list of removals

RemovalList read_removals(const Superblock& superblock, uint64_t until,
                          const RemovalList::Read& read) {
  const bool counts = superblock.immutable_keys || superblock.closed;
  if (!counts) return {};
  RemovalList list = RemovalList::load(superblock.nonce, superblock.list_number, until, read);
  const bool is_version_1 = !superblock.immutable_keys && superblock.list_number == 0;
  if (!is_version_1) return list;
  // The halves are those of an opening with immutable keys: only their numbers count.
  const uint64_t number = list.number();
  list = superblock.version_1.count != 0 ? read_version_1(superblock, read) : RemovalList();
  list.set_number(number);
  return list;
}

void RegionHead::load_list(uint64_t until) {
  if (test_hooks.skip_removed) return;
  list_ = read_removals(superblock_, until,
                        [this](uint64_t offset, MutableBytes into) { return read(offset, into); });
}

Status RegionHead::store_list(RemovalList list, Half half) {
  list.set_number(list_.number() + 1);
  Status status = write_list(list);
  if (!status.ok() && half == Half::kAny) {
    list.set_number(list.number() + 1);
    status = write_list(list);
  }
  if (status.ok()) status = medium_.drain();
  if (status.ok()) list_ = std::move(list);
  return status;
}

Status RegionHead::write_list(const RemovalList& list) {
  const Geometry& geometry = superblock_.geometry;
  AlignedBytes bytes(geometry.round_up(list.encoded_bytes()), geometry.unit_bytes);
  list.encode(superblock_.nonce, bytes.span());
  return write(Geometry::kRemovedAt + list.number() % 2 * RemovalList::kHalfBytes, bytes.span());
}

// ---- the superblock

Status RegionHead::begin(bool immutable_keys, uint32_t regions, Sync sync) {
  superblock_.closed = false;
  superblock_.regions = regions;
  superblock_.immutable_keys = immutable_keys;
  superblock_.list_number = list_.number();
  superblock_.version_1 = {};
  if (sync == Sync::kNo) {
    if (store_superblock(sync).ok()) return ok_status();
    return store_superblock(sync);  // to the other copy
  }
  bool one_is_written = false;
  Status problem;
  for (uint64_t copy = 0; copy < kCopies; ++copy) {
    const Status status = store_superblock(sync);
    if (status.ok()) {
      one_is_written = true;
    } else if (!is_out_of_the_way(superblock_.opening % kCopies)) {
      return status;
    } else {
      problem = status;
    }
  }
  return one_is_written ? ok_status() : problem;
}

Status RegionHead::close(uint32_t regions) {
  superblock_.closed = true;
  superblock_.regions = regions;
  superblock_.list_number = list_.number();
  if (store_superblock(Sync::kYes).ok()) return ok_status();
  return store_superblock(Sync::kYes);  // to the other copy
}

Status RegionHead::store_superblock(Sync sync) {
  ++superblock_.opening;
  superblock_.encode(unit_.span());
  const uint64_t at = superblock_.opening % kCopies * Geometry::kCopyBytes;
  if (Status status = write(at, unit_.span()); !status.ok()) return status;
  return sync == Sync::kYes ? medium_.drain() : ok_status();
}

// Whether a copy that could not be written is none that anybody would believe.
bool RegionHead::is_out_of_the_way(uint64_t copy) {
  const auto decoded = read_copy(medium_, copy, superblock_.geometry.unit_bytes);
  return !decoded.ok() || !*decoded;
}

// ---- bytes

Status RegionHead::write(uint64_t offset, MutableBytes bytes) {
  if (Status status = medium_.write(offset, bytes); !status.ok()) return status;
  return medium_.flush({offset, bytes.size()});
}

Status RegionHead::read(uint64_t offset, MutableBytes into) {
  const Geometry& geometry = superblock_.geometry;
  const uint64_t begin = geometry.round_down(offset);
  const uint64_t end = geometry.round_up(offset + into.size());
  AlignedBytes units(end - begin, geometry.unit_bytes);
  if (Status status = medium_.read(begin, units.span()); !status.ok()) return status;
  std::memcpy(into.data(), units.span().data() + (offset - begin), into.size());
  return ok_status();
}

}  // namespace nvcache
