// The 16-byte name of a cached block: which file it belongs to, and where in
// that file it starts. nvcache never looks inside the two words; an engine with
// 16-byte keys of its own (RocksDB) splits them in two. Blocks of one file are
// erased together through their common `file`.
#pragma once

#include <cstdint>

namespace nvcache {

struct BlockKey {
  uint64_t file = 0;
  uint64_t offset = 0;

  friend bool operator==(const BlockKey&, const BlockKey&) = default;
};

}  // namespace nvcache
