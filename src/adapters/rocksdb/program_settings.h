// The specification of a cache that takes the place of one of a program's own: what the user wrote
// (NVCACHE_TIERED), and for the settings that he did not write the program's options.
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

}  // namespace nvcache::rocksdb
