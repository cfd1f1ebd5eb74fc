// The file that caches append their statistics to, as a JSON object each, when they close: for
// programs that cannot call stats(). Thread-safe.
#pragma once

#include <string>

#include "nvcache/block_cache.h"
#include "nvcache/tiered_cache.h"

namespace nvcache::rocksdb {

// The path that NVCACHE_STATS_JSON names; empty if there is none.
std::string stats_file();

// Drain the cache first, so that its counters are whole. A file that cannot be written is no
// reason to fail a program that closes its cache.
void append_stats(BlockCache& cache, const std::string& path);
// If the cache had any lookups: db_bench makes dozens of caches that it never uses.
void append_stats(TieredCache& cache, const std::string& path);

}  // namespace nvcache::rocksdb
