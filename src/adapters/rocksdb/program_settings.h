// The configuration of a tiered cache under RocksDB: what the user wrote, and for the settings that
// the user did not write what RocksDB's keys promise; where the cache takes the place of one of a
// program's own (NVCACHE_TIERED), also the program's options. Free of RocksDB's types. Stateless.
#pragma once

#include <string_view>

#include "adapters/rocksdb/program_cache.h"
#include "nvcache/status_or.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache::rocksdb {

// With keys=immutable and owner=*, unless the user wrote `keys` and `owner`: RocksDB's keys name a
// block by the session of the database and the number of the file that it was written in, and
// neither comes again, in any database. (Keys for the life of a process are looked up in the first
// tier alone: key.h.)
[[nodiscard]] StatusOr<TieredConfig> tiered_config_of(std::string_view spec);

// Likewise, in place of a program's cache: setting by setting the user wins; a share of the
// program's is cut down to what his leave. INVALID_ARGUMENT also for a lower tier that comes back
// after a restart, and that no other cache shares: a program makes caches that it never uses; the
// first would have the tier's file, and the next one could not open it.
[[nodiscard]] StatusOr<TieredConfig> tiered_config_of(std::string_view spec,
                                                      const ProgramCache& program);

// False for options that RocksDB refuses itself, with a null pointer: it has to be asked.
bool can_replace(const ProgramCache& program);

}  // namespace nvcache::rocksdb
