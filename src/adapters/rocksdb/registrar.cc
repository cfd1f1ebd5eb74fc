// Registers nvcache:// as a SecondaryCache with RocksDB as soon as this library is in the
// process. The library may be linked, or loaded by LD_PRELOAD into a program that was not
// built for it (db_bench --secondary_cache_uri=nvcache://?size=1GiB).
//
// Such a program cannot call stats(). If NVCACHE_STATS_JSON names a file, each cache that
// was opened by URI appends its statistics to the file, as a JSON object, when it closes.
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "adapters/rocksdb/open.h"
#include "adapters/rocksdb/secondary_cache.h"
#include "nvcache/rocksdb.h"
#include "rocksdb/utilities/object_registry.h"

namespace nvcache::rocksdb {
namespace {

constexpr const char* kScheme = "nvcache";
constexpr const char* kStatsFileVariable = "NVCACHE_STATS_JSON";

// The cache of a URI, which appends its statistics to a file when it closes.
std::shared_ptr<BlockCache> report_at_close(std::shared_ptr<BlockCache> cache, std::string path) {
  BlockCache* const raw = cache.get();
  return {raw, [cache = std::move(cache), path = std::move(path)](BlockCache* closed) {
            closed->drain();
            std::ofstream(path, std::ios::app) << closed->stats().to_json() << '\n';
          }};
}

::rocksdb::SecondaryCache* create(const std::string& uri,
                                  std::unique_ptr<::rocksdb::SecondaryCache>* guard,
                                  std::string* error) {
  absl::StatusOr<std::shared_ptr<BlockCache>> opened = open_from({.spec = uri});
  if (!opened.ok()) {
    *error = std::string(opened.status().message());
    return nullptr;
  }
  std::shared_ptr<BlockCache> cache = *std::move(opened);
  if (const char* path = std::getenv(kStatsFileVariable); path != nullptr && *path != '\0') {
    cache = report_at_close(std::move(cache), path);
  }
  *guard = std::make_unique<SecondaryCache>(std::move(cache), /*exclusive=*/false);
  return guard->get();
}

int register_scheme() {
  using Library = ::rocksdb::ObjectLibrary;
  Library::Default()->AddFactory<::rocksdb::SecondaryCache>(
      Library::PatternEntry(kScheme, /*optional=*/true).AddSeparator("://", /*at_least_one=*/false),
      create);
  return 1;
}

[[maybe_unused]] const int registered = register_scheme();

}  // namespace
}  // namespace nvcache::rocksdb
