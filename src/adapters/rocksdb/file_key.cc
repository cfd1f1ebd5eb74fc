#include "adapters/rocksdb/file_key.h"

#include <string>

#include "base/key_bytes.h"
#include "nvcache/block_key.h"

// RocksDB's constructor OffsetableCacheKey(db_id, db_session_id, file_number), which makes the key
// of the offset 0: 16 bytes. No header declares it. Null if RocksDB does not export it.
// clang-format off
extern "C" __attribute__((weak)) void nvcache_make_cache_key(
    void* key, const std::string& db_id, const std::string& db_session_id,
    uint64_t file_number) __asm__("_ZN7rocksdb18OffsetableCacheKeyC1ERKNSt7__cxx1112basic_string"
                                  "IcSt11char_traitsIcESaIcEEES8_m");
// clang-format on

namespace nvcache::rocksdb {

std::optional<uint64_t> file_of(const ::rocksdb::TableProperties& properties) {
  if (nvcache_make_cache_key == nullptr || properties.db_session_id.empty() ||
      properties.orig_file_number == 0) {
    return std::nullopt;
  }
  alignas(uint64_t) char bytes[kBlockKeyBytes] = {};
  nvcache_make_cache_key(bytes, properties.db_id, properties.db_session_id,
                         properties.orig_file_number);
  BlockKey key;
  if (!parse_block_key({bytes, sizeof bytes}, &key) || key.file == 0) return std::nullopt;
  return key.file;
}

}  // namespace nvcache::rocksdb
