// The prefix of the cache keys of all blocks of a table file. RocksDB makes it of the database's
// id, the session and the number that the file was written with, which its properties have: so a
// file keeps it for life, in other databases, too. In 7.8 and in 8.10 and up it is the first 8
// bytes ("common prefix" in cache/cache_key.h), and no two files share it.
#pragma once

#include <cstdint>
#include <optional>

#include "rocksdb/table_properties.h"

namespace nvcache::rocksdb {

// BlockKey::file of the file's blocks, without a Form (key.h). Nothing if the file is of a time
// before RocksDB noted these, or if librocksdb does not export its function.
std::optional<uint64_t> file_of(const ::rocksdb::TableProperties& properties);

}  // namespace nvcache::rocksdb
