// A block that comes back after a restart.
#pragma once

#include <atomic>
#include <cstdint>

#include "nvcache/block_key.h"

namespace nvcache {

struct RecoveredBlock {
  BlockKey key;
  uint64_t hash = 0;
  uint64_t place = 0;
  uint32_t size_bytes = 0;
  uint32_t checksum = 0;
  // Of the key's stripe; null: the block shall not come in.
  const std::atomic<uint32_t>* generation = nullptr;
  bool is_in = false;  // the answer
};

}  // namespace nvcache
