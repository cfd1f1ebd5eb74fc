// The defaults of restarts under RocksDB: a cache in regions on a device, as is the default there,
// comes back after a restart and after a crash. Stateless,
// thread-safe.
//
// RocksDB's cache keys allow that: "The secondary cache may persist across process and system
// restarts, and may even be moved between hosts. Therefore, the cache key must be repeatable across
// restarts/reboots, and globally unique" (rocksdb/cache.h). A key holds the file's number and the
// identity of the session that wrote the file, as the file's own properties have them
// (BlockBasedTable::SetupBaseCacheKey). Table files are never changed, and a session's identity is
// random: a database that was deleted and made anew, restored or copied, or one that reuses a
// file's number after a crash, writes under another. A file without these properties (RocksDB
// before 6.24) has a key of the session that reads it, so its blocks do not come back; so have blob
// files. docs/guide/rocksdb.md names the two cases in which keys do repeat.
#pragma once

#include <string_view>

#include "block_cache/api/config.h"
#include "nvcache/status_or.h"

namespace nvcache::rocksdb {

// The specification's cache with restart=warm and keys=immutable, each unless the user wrote that
// key himself. Without them
// - if the medium is neither file:PATH,io=direct nor nvme:DEVICE: memory forgets, mapped files are
//   read in place, and emulated media are for comparisons;
// - if the cache lies in place (complete_config() has the default), or with restart=cold.
// INVALID_ARGUMENT as parse_config().
[[nodiscard]] StatusOr<Config> config_with_restart(std::string_view spec);

}  // namespace nvcache::rocksdb
