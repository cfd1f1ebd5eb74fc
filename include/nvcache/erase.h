// Which blocks an erase means, and how it must hold.
#pragma once

#include <cstdint>
#include <span>

#include "nvcache/block_key.h"

namespace nvcache {

// The blocks of these keys, and all blocks of these files.
struct Blocks {
  std::span<const BlockKey> keys = {};
  std::span<const uint64_t> files = {};
};

// After any of them a lookup misses, until a block of the key is put.
enum class Gone : uint8_t {
  // It may come back after a restart: of a key that never names other bytes, or that is never
  // looked up again. Of a file: the file is gone. One pass finds the blocks of all files, and for
  // ten minutes none of theirs is let in (kStaleToken), such as those that a cache above still
  // evicts. Tokens stay good.
  kMayReturn,
  // Its old bytes are never served again; puts with older tokens are refused. It holds over a
  // restart. With `keys=immutable` a block may be back after one: its bytes are right.
  kForGood,
  // As kForGood, also with `keys=immutable`, over a crash and a loss of power, when the call
  // returns OK. Where keys are mutable nothing comes back after a crash, and it costs what kForGood
  // does. With `keys=immutable` a list is written, 24 bytes for each key and file that was ever
  // given, and the medium is synced: give many at once. The list holds 19,000 entries. When it
  // overflows, only blocks written later survive a restart. A key on the list may be missing after
  // the next restart even if it was put again.
  kDurable,
};

}  // namespace nvcache
