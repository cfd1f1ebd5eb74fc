// The contents of a medium in regions, read without opening a cache on it and without writing: for
// `nvcache inspect`. docs/design/regions.md has the bytes.
//
// It goes the way of a restart: the superblock, the list of removed or erased blocks, each footer,
// then the indexes, the newest region first. A running cache may write at the same time: a region
// whose footer changed while it was read counts as free, and never as damaged.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "block_cache/region/format.h"
#include "nvcache/bytes.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct BlockTotals {
  uint64_t blocks = 0;
  uint64_t bytes = 0;

  void add(uint64_t size_bytes) {
    ++blocks;
    bytes += size_bytes;
  }
};

// A region that holds something, or that cannot be read.
struct InspectedRegion {
  uint32_t region = 0;
  uint64_t sequence = 0;   // regions are sealed in this order; 0 if the footer cannot be read
  bool damaged = false;    // its footer or its index
  BlockTotals live{};      // the newest of their keys, and not removed
  BlockTotals outdated{};  // removed, erased, or replaced by a block in a newer region
  uint64_t damaged_blocks = 0;
};

// Live blocks of one BlockKey::file.
struct InspectedFile {
  uint64_t file = 0;
  BlockTotals live;
  uint64_t first_offset = 0;  // the lowest and the highest BlockKey::offset
  uint64_t last_offset = 0;

  // RocksDB's keys name a file by 64 hashed bits. WiredTiger's caches count their files from 1.
  bool is_numbered() const { return file < uint64_t{1} << 32; }
};

struct Inspection {
  std::array<std::string, 2> copies;  // of the superblock: "whole, opening 7", or what is wrong
  bool copy_damaged = false;          // one of them
  Superblock superblock;              // the newer one that is whole
  uint64_t medium_bytes = 0;
  bool removed_list_damaged = false;  // or that of erased blocks
  uint32_t region_count = 0;          // as the superblock says
  uint32_t missing_regions = 0;       // that lie behind the medium's end: it was cut short
  uint32_t free_regions = 0;          // without a footer of this cache
  uint32_t strange_footers = 0;       // of these: one that an earlier cache left, or a damaged one
  bool blocks_read = false;           // damaged_blocks means something
  uint64_t damaged_blocks = 0;        // live ones whose bytes do not fit their checksum
  uint32_t damaged_regions = 0;
  BlockTotals live;
  BlockTotals outdated;
  std::vector<InspectedRegion> regions;  // by number
  std::vector<InspectedFile> files;      // those with the most bytes first

  uint32_t sealed_regions() const {
    return static_cast<uint32_t>(regions.size()) - damaged_regions;
  }
  // Whether the next opening with restart=warm brings the live blocks back.
  bool comes_back() const {
    return (superblock.immutable_keys || superblock.closed) && !removed_list_damaged;
  }
  // An unused medium and one that was never closed are whole, too.
  bool is_whole() const {
    return !copy_damaged && !removed_list_damaged && missing_regions == 0 && damaged_regions == 0 &&
           damaged_blocks == 0;
  }
};

struct InspectOptions {
  bool read_blocks = false;  // and compare their checksums
  // Called before each region of each step; an error ends the inspection and is returned.
  std::function<Status(std::string_view step, uint64_t done, uint64_t of)> progress = nullptr;
};

// Fills a buffer with the bytes at an offset of the medium: any offset and size.
using ReadMedium = std::function<Status(uint64_t offset, MutableBytes into)>;

// NOT_FOUND if there is no superblock; FAILED_PRECONDITION if it is of another version; DATA_LOSS
// if no copy of it is whole; the medium's own error if that fails again and again;
// RESOURCE_EXHAUSTED without memory. Damage elsewhere is counted. Takes any bytes.
// Memory: 24 bytes a region, some 15 a block (keys are told apart by 64 bits of their hash), 72 a
// region that holds blocks, 40 a file. One thread; reads 64 bytes a region and 32 a block.
[[nodiscard]] StatusOr<Inspection> inspect_regions(const ReadMedium& read, uint64_t medium_bytes,
                                                   const InspectOptions& options = {});

}  // namespace nvcache
