// The 16 bytes of a block's key, as engines (RocksDB) and the tiered cache pass it: 8 bytes
// for the file, 8 for the offset, in the machine's order. The only place that parses them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "nvcache/block_key.h"

namespace nvcache {

inline constexpr size_t kBlockKeyBytes = 16;

// False, without any change, if `bytes` are not 16.
inline bool parse_block_key(std::string_view bytes, BlockKey* key) {
  if (bytes.size() != kBlockKeyBytes) return false;
  std::memcpy(&key->file, bytes.data(), sizeof key->file);
  std::memcpy(&key->offset, bytes.data() + sizeof key->file, sizeof key->offset);
  return true;
}

}  // namespace nvcache
