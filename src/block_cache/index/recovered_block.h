// A block that comes back after a restart, and how a key says that all of a file does not.
#pragma once

#include <cstdint>

#include "nvcache/block_key.h"

namespace nvcache {

// The offset that stands for all of a file, among keys that were erased.
inline constexpr uint64_t kWholeFile = ~uint64_t{0};

struct RecoveredBlock {
  BlockKey key;
  uint64_t hash = 0;
  uint64_t place = 0;
  uint32_t size_bytes = 0;
  uint32_t checksum = 0;
  bool is_gone = false;  // its file is gone: it shall not come in
  bool is_in = false;    // the answer
};

}  // namespace nvcache
