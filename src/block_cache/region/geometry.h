// How a medium is divided into regions: an area for the superblock, then regions of one size.
//
//   0            kHeadBytes     + region_bytes
//   | superblock | region 0     | region 1 | ...
//
// A place is one number of grains: region * region_grains + offset in the region. Stateless.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace nvcache {

struct Geometry {
  // Two copies of the superblock, kCopyBytes apart, and the list of removed blocks.
  static constexpr uint64_t kHeadBytes = 1 << 20;
  static constexpr uint64_t kCopyBytes = 64 << 10;
  static constexpr uint64_t kRemovedAt = 2 * kCopyBytes;
  static constexpr uint64_t kRemovedBytes = kHeadBytes - kRemovedAt;

  static constexpr uint32_t kLeastUnitBytes = 512;
  static constexpr uint32_t kMostUnitBytes = 64 << 10;

  uint32_t grain_bytes = 64;   // a power of two
  uint32_t unit_bytes = 4096;  // of I/O; offsets and sizes of accesses are multiples
  uint64_t region_bytes = 0;   // a power of two

  uint32_t region_grains() const { return static_cast<uint32_t>(region_bytes / grain_bytes); }
  // That a block takes.
  uint32_t grains_of(uint32_t size_bytes) const {
    return (size_bytes + grain_bytes - 1) >> std::countr_zero(grain_bytes);
  }
  uint32_t regions_in(uint64_t medium_bytes) const {
    return medium_bytes <= kHeadBytes
               ? 0
               : static_cast<uint32_t>((medium_bytes - kHeadBytes) / region_bytes);
  }
  uint64_t region_at(uint32_t region) const { return kHeadBytes + region * region_bytes; }
  uint64_t end_of(uint32_t region) const { return region_at(region) + region_bytes; }
  uint32_t region_of(uint64_t place) const {
    return static_cast<uint32_t>(place >> std::countr_zero(region_grains()));
  }
  uint32_t offset_in_region(uint64_t place) const {
    return static_cast<uint32_t>(place & (region_grains() - 1));
  }
  uint64_t place_of(uint32_t region, uint32_t offset_grains) const {
    return uint64_t{region} * region_grains() + offset_grains;
  }
  uint64_t round_up(uint64_t bytes) const {
    return (bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
  }
  uint64_t round_down(uint64_t bytes) const { return bytes / unit_bytes * unit_bytes; }

  friend bool operator==(const Geometry&, const Geometry&) = default;
};

}  // namespace nvcache
