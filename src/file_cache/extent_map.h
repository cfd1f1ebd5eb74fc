// Which extents of one file are cached: an ordered set of disjoint extents, so that
// a write finds all that it overlaps, however they lie, in O(log n + overlapped).
//
// An extent is one 64-bit word of a WordSet: 8 to 12 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "file_cache/word_set.h"

namespace nvcache {

// A range of a file, in bytes.
struct FileRange {
  uint64_t offset = 0;
  uint64_t size = 0;

  uint64_t end() const { return offset + size; }
  bool operator==(const FileRange&) const = default;
  bool overlaps(const FileRange& other) const {
    return offset < other.end() && other.offset < end();
  }
};

// Caller-locked.
class ExtentMap {
 public:
  // Extents start and end at whole units: the smallest allocation of a file system.
  static constexpr uint64_t kUnitBytes = 512;
  static constexpr uint64_t kMaxExtentBytes = 0xffff * kUnitBytes;

  // Whether an extent can be entered at all.
  static bool takes(const FileRange& range) {
    return range.size != 0 && range.size <= kMaxExtentBytes && range.offset % kUnitBytes == 0 &&
           range.size % kUnitBytes == 0 && range.offset / kUnitBytes < kMaxOffsetUnits;
  }

  bool contains(const FileRange& extent) const { return words_.contains(pack(extent)); }

  // Enters an extent that takes() allows and that overlaps none; false if it is there.
  bool insert(const FileRange& extent) {
    NVCACHE_ASSERT_SLOW(takes(extent));
    return words_.insert(pack(extent));
  }
  bool erase(const FileRange& extent) { return words_.erase(pack(extent)); }

  // Removes extents that overlap `range`, the first `most` of them, and appends them to `removed`.
  // Whether there are more.
  bool take_overlapped(const FileRange& range, size_t most, std::vector<FileRange>* removed);

  // The first extent after `word`, a position that an earlier call gave (0: the first
  // of all), going round; nothing if there is none.
  std::optional<FileRange> next(uint64_t* position) const;

  uint64_t size() const { return words_.size(); }
  uint64_t metadata_bytes() const { return words_.bytes(); }

 private:
  static constexpr uint64_t kSizeBits = 16;
  static constexpr uint64_t kMaxOffsetUnits = uint64_t{1} << (64 - kSizeBits);

  static uint64_t pack(const FileRange& extent) {
    return extent.offset / kUnitBytes << kSizeBits | extent.size / kUnitBytes;
  }
  static FileRange unpack(uint64_t word) {
    return {(word >> kSizeBits) * kUnitBytes, (word & ((1u << kSizeBits) - 1)) * kUnitBytes};
  }

  WordSet words_;
};

}  // namespace nvcache
