// The functions that the adapters share: opening the cache that CacheOptions describe, and
// turning Abseil's statuses into RocksDB's. Stateless.
#pragma once

#include <memory>
#include <string>

#include "nvcache/block_cache.h"
#include "nvcache/rocksdb.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"
#include "rocksdb/status.h"

namespace nvcache::rocksdb {

// The status with the same meaning, and the same message.
::rocksdb::Status to_rocksdb(const nvcache::Status& status);

// options.cache, or else a cache opened from options.spec.
StatusOr<std::shared_ptr<BlockCache>> open_from(const CacheOptions& options);

// Medium, size and policies on indented lines, in the form of RocksDB's info log.
std::string printable_options(const BlockCache& cache);

}  // namespace nvcache::rocksdb
