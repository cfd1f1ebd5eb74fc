// Tells RocksDB's own background threads from the application's.
#pragma once

#include "nvcache/block_cache.h"

namespace nvcache::rocksdb {

// kBackground on the threads of RocksDB's thread pools, which it names
// "rocksdb:low", "rocksdb:high" and "rocksdb:bottom", and on the threads they
// start (subcompactions), which inherit the name. The name is asked for once a
// thread. A compaction that the application runs on a thread of its own
// (DB::CompactFiles) is taken for foreground.
Caller current_caller();

}  // namespace nvcache::rocksdb
