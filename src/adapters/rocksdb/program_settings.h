// The specification of a tiered cache under RocksDB: what the user wrote, and for the settings that
// the user did not write what RocksDB's keys promise; where the cache takes the place of one of a
// program's own (NVCACHE_TIERED), also the program's options.
#pragma once

#include <string>
#include <string_view>

#include "rocksdb/cache.h"

namespace nvcache::rocksdb {

struct ProgramSettings {
  std::string spec;
  // The program wants a cache of no bytes, and there is no lower tier. A specification cannot say
  // so: it has one byte, and whoever opens it sets its capacity to 0.
  bool nothing = false;
};

// What the user wrote wins, key by key; a share of the program's is cut down to what his leave. A
// specification with a mistake stays as it is: errors show what the user wrote, and no more.
ProgramSettings with_program_settings(std::string_view spec,
                                      const ::rocksdb::LRUCacheOptions& options);

// With keys=immutable and owner=*, unless the user wrote `keys` and `owner`: RocksDB's keys name a
// block by the session of the database and the number of the file that it was written in, and
// neither comes again, in any database. (Keys for the life of a process are looked up in the first
// tier alone: key.h.)
std::string with_immutable_keys(std::string_view spec);

}  // namespace nvcache::rocksdb
