// Tells RocksDB's own background threads from the application's.
#pragma once

#include "nvcache/block_cache.h"

namespace nvcache::rocksdb {

// kBackground on the threads of RocksDB's thread pools ("rocksdb:low", "rocksdb:high",
// "rocksdb:bottom"), and on the threads that they start for subcompactions, which inherit the
// name. Reads the name once per thread. A compaction that the application runs on its own
// thread (DB::CompactFiles) counts as foreground.
Caller current_caller();

}  // namespace nvcache::rocksdb
