// The header of a WiredTiger block: 28 bytes of page header, then the size of the block on disk
// (4 bytes, little-endian), its checksum and flags. It is never compressed or encrypted.
// WiredTiger reads and writes whole blocks. This size tells them from its other reads (salvage
// probing, files copied in pieces).
#pragma once

#include <cstddef>
#include <cstdint>

#include "nvcache/bytes.h"

namespace nvcache {

inline constexpr size_t kDiskSizeOffset = 28;

// Whether `bytes` are one block, from its first byte to its last.
inline bool is_whole_block(ByteView bytes) {
  if (bytes.size() < kDiskSizeOffset + sizeof(uint32_t)) return false;
  uint32_t disk_size_bytes = 0;
  for (size_t i = 0; i < sizeof(uint32_t); ++i) {
    disk_size_bytes |= std::to_integer<uint32_t>(bytes[kDiskSizeOffset + i]) << (8 * i);
  }
  return disk_size_bytes == bytes.size();
}

}  // namespace nvcache
