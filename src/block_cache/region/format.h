// The bytes beside the blocks of a medium in regions: the superblock, and the index of each region.
// docs/design/regions.md shows them. All numbers are little-endian. The checksums of an index are
// seeded with the medium's nonce, so that what an earlier cache left behind on the same medium is
// never taken for this one's.
//
// Decoders take any bytes. Stateless, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "block_cache/region/geometry.h"
#include "nvcache/block_key.h"
#include "nvcache/bytes.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct Superblock {
  static constexpr uint32_t kVersion = 2;  // which is written; version 1 is read, too
  static constexpr size_t kBytes = 128;

  // Version 1 kept another list of what was removed from mutable keys. 0 entries: none.
  struct Version1List {
    uint32_t count = 0;  // meaningful if closed
    uint64_t checksum = 0;
  };

  Geometry geometry;
  uint64_t nonce = 0;
  uint64_t opening = 0;  // counts openings and closings; the copy with the higher number is valid
  bool closed = false;   // in order: the list of removals has all that was removed
  bool immutable_keys = false;  // of this opening: no key ever names other bytes
  uint32_t regions = 0;         // the first of them may be believed, the others not; 0: all may
  uint64_t owner = 0;           // whose blocks they are, hashed; 0: no owner was named
  uint64_t list_number = 0;     // of the list of removals; one with a lower number is out of date
  Version1List version_1 = {};  // not written

  void encode(MutableBytes to) const;  // kBytes at least

  // Nothing if the bytes are no superblock. FAILED_PRECONDITION if they are one of another version;
  // DATA_LOSS if they are a damaged one.
  static StatusOr<std::optional<Superblock>> decode(ByteView from);
};

// One block of a region, as its index has it.
struct BlockRecord {
  BlockKey key = {};
  uint32_t offset_grains = 0;  // in the region
  uint32_t size_bytes = 0;     // 0: there is no block
  uint32_t checksum = 0;       // checksum_block() of the key and the bytes
  uint32_t unused = 0;
};
static_assert(sizeof(BlockRecord) == 32);

// The end of a sealed region. The records lie right before it, the first one last.
struct RegionFooter {
  static constexpr size_t kBytes = 64;

  uint32_t region = 0;
  uint32_t count = 0;     // of records
  uint64_t sequence = 0;  // regions are sealed in this order
  uint64_t checksum = 0;  // of the records

  void encode(uint64_t nonce, MutableBytes to) const;  // kBytes
  static std::optional<RegionFooter> decode(uint64_t nonce, ByteView from);
  // Whether the bytes begin as a footer does: this cache's, an earlier one's, or a damaged one.
  static bool resembles_one(ByteView from);
  // Like decode(), but nothing if it is not the footer of that region.
  static std::optional<RegionFooter> decode_of(const Geometry& geometry, uint64_t nonce,
                                               uint32_t region, ByteView from);

  // Bytes of footer and records.
  static uint64_t tail_bytes(uint64_t count) { return kBytes + count * sizeof(BlockRecord); }
};

// The checksum of the records as they lie on the medium.
uint64_t checksum_records(uint64_t nonce, std::span<const BlockRecord> records);

// Whether each record lies within a region and none reaches into the index.
bool records_fit(const Geometry& geometry, std::span<const BlockRecord> records);

// Whether these are the records that the footer tells of, undamaged.
bool is_whole(const Geometry& geometry, uint64_t nonce, const RegionFooter& footer,
              std::span<const BlockRecord> records);

}  // namespace nvcache
