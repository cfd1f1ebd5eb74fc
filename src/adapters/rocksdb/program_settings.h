// The specification of a tiered cache under RocksDB: what the user wrote, and for the settings that
// the user did not write what RocksDB's keys promise; where the cache takes the place of one of a
// program's own (NVCACHE_TIERED), also the program's options. Free of RocksDB's types. Stateless.
#pragma once

#include <string>
#include <string_view>

#include "adapters/rocksdb/program_cache.h"

namespace nvcache::rocksdb {

struct ProgramSettings {
  std::string spec;
  // The program wants a cache of no bytes, and there is no lower tier. A specification cannot say
  // so: it has one byte, and its opener sets its capacity to 0.
  bool nothing = false;
};

// What the user wrote wins, key by key; a share of the program's is cut down to what his leave. A
// specification with a mistake stays as it is: errors show what the user wrote, and no more.
ProgramSettings with_program_settings(std::string_view spec, const ProgramCache& program);

// False for options that RocksDB refuses itself, with a null pointer: it has to be asked.
bool can_replace(const ProgramCache& program);

// Whether a lower tier comes back after a restart, and no other cache shares it. A program makes
// caches that it never uses: the first would have the tier's file, and the next one could not open
// it. False for a specification with a mistake.
bool has_warm_tier_of_its_own(std::string_view spec);
inline constexpr const char* kNoWarmTierOfItsOwn =
    "restart: warm given; allowed here: cold, or a tier with a name";

// With keys=immutable and owner=*, unless the user wrote `keys` and `owner`: RocksDB's keys name a
// block by the session of the database and the number of the file that it was written in, and
// neither comes again, in any database. (Keys for the life of a process are looked up in the first
// tier alone: key.h.)
std::string with_immutable_keys(std::string_view spec);

}  // namespace nvcache::rocksdb
