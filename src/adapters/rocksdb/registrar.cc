// Registers nvcache:// as a SecondaryCache with RocksDB as soon as this library is in the process,
// and tiered:// as a whole block cache where RocksDB takes one by a string (9.7 and up). The
// library may be linked, or loaded by LD_PRELOAD into a program that was not built for it (db_bench
// --secondary_cache_uri=nvcache://?size=1GiB, --cache_uri=tiered://?dram=64MiB).
//
// Such a program cannot call stats(). If NVCACHE_STATS_JSON names a file, each cache that
// was opened by URI appends its statistics to the file, as a JSON object, when it closes.
#include <memory>
#include <string>
#include <utility>

#include "adapters/rocksdb/open.h"
#include "adapters/rocksdb/secondary_cache.h"
#include "adapters/rocksdb/stats_file.h"
#include "adapters/rocksdb/tiered_open.h"
#include "adapters/rocksdb/versions.h"
#include "nvcache/rocksdb.h"
#include "rocksdb/utilities/object_registry.h"

namespace nvcache::rocksdb {
namespace {

// The cache of a URI, which appends its statistics to a file when it closes.
std::shared_ptr<BlockCache> report_at_close(std::shared_ptr<BlockCache> cache, std::string path) {
  BlockCache* const raw = cache.get();
  return {raw, [cache = std::move(cache), path = std::move(path)](BlockCache* closed) {
            append_stats(*closed, path);
          }};
}

::rocksdb::SecondaryCache* create(const std::string& uri,
                                  std::unique_ptr<::rocksdb::SecondaryCache>* guard,
                                  std::string* error) {
  StatusOr<std::shared_ptr<BlockCache>> opened = open_from({.spec = uri});
  if (!opened.ok()) {
    *error = std::string(opened.status().message());
    return nullptr;
  }
  std::shared_ptr<BlockCache> cache = *std::move(opened);
  if (std::string path = stats_file(); !path.empty()) {
    cache = report_at_close(std::move(cache), std::move(path));
  }
  *guard = std::make_unique<SecondaryCache>(std::move(cache), /*exclusive=*/false);
  return guard->get();
}

#if NVCACHE_ROCKSDB_CACHE_BY_STRING
::rocksdb::Cache* create_tiered(const std::string& uri, std::unique_ptr<::rocksdb::Cache>* guard,
                                std::string* error) {
  const ::rocksdb::Status opened = open_tiered(uri, stats_file(), guard);
  if (opened.ok()) return guard->get();
  *error = opened.ToString();
  return nullptr;
}
#endif

::rocksdb::ObjectLibrary::PatternEntry scheme(const char* name) {
  return ::rocksdb::ObjectLibrary::PatternEntry(name, /*optional=*/true)
      .AddSeparator("://", /*at_least_one=*/false);
}

int register_schemes() {
  const auto library = ::rocksdb::ObjectLibrary::Default();
  library->AddFactory<::rocksdb::SecondaryCache>(scheme("nvcache"), create);
#if NVCACHE_ROCKSDB_CACHE_BY_STRING
  library->AddFactory<::rocksdb::Cache>(scheme("tiered"), create_tiered);
#endif
  return 1;
}

[[maybe_unused]] const int registered = register_schemes();

}  // namespace
}  // namespace nvcache::rocksdb
