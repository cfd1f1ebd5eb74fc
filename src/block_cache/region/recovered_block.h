// A block that comes back after a restart.
#pragma once

#include <cstdint>

#include "nvcache/block_key.h"

namespace nvcache {

struct RecoveredBlock {
  BlockKey key;
  uint64_t hash = 0;
  uint64_t place = 0;
  uint32_t size_bytes = 0;
  uint32_t checksum = 0;
  bool is_dead = false;  // its file is gone: it shall not come in
  bool is_in = false;    // the answer
};

}  // namespace nvcache
