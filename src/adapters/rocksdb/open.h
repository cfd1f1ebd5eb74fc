// What the adapters share: opening the cache that CacheOptions describe, and
// turning Abseil's statuses into RocksDB's. Stateless.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nvcache/block_cache.h"
#include "nvcache/rocksdb.h"
#include "rocksdb/status.h"

namespace nvcache::rocksdb {

// The status with the same meaning, and the same message.
::rocksdb::Status to_rocksdb(const absl::Status& status);

// options.cache, or else a cache opened from options.spec.
absl::StatusOr<std::shared_ptr<BlockCache>> open_from(const CacheOptions& options);

// Medium, size and policies on indented lines, in the form of RocksDB's info log.
std::string printable_options(const BlockCache& cache);

}  // namespace nvcache::rocksdb
