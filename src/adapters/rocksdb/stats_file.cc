#include "adapters/rocksdb/stats_file.h"

#include <cstdlib>

#include "base/files.h"

namespace nvcache::rocksdb {

std::string stats_file() {
  const char* const path = std::getenv("NVCACHE_STATS_JSON");
  return path == nullptr ? "" : path;
}

void append_stats(BlockCache& cache, const std::string& path) {
  cache.drain();
  (void)append_to_file(path, cache.stats().to_json() + '\n');
}

void append_stats(TieredCache& cache, const std::string& path) {
  cache.control()->drain();
  const TieredStats stats = cache.stats();
  if (stats.lookups > 0) (void)append_to_file(path, stats.to_json() + '\n');
}

}  // namespace nvcache::rocksdb
