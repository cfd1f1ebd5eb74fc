#include "adapters/rocksdb/open.h"

#include "adapters/rocksdb/restart_settings.h"
#include "block_cache/face/open_config.h"
#include "fmt/format.h"

namespace nvcache::rocksdb {

::rocksdb::Status to_rocksdb(const nvcache::Status& status) {
  const ::rocksdb::Slice message(status.message().data(), status.message().size());
  switch (status.code()) {
    case StatusCode::kOk:
      return ::rocksdb::Status::OK();
    case StatusCode::kInvalidArgument:
    case StatusCode::kOutOfRange:
      return ::rocksdb::Status::InvalidArgument(message);
    case StatusCode::kResourceExhausted:
      return ::rocksdb::Status::NoSpace(message);
    case StatusCode::kUnimplemented:
      return ::rocksdb::Status::NotSupported(message);
    default:
      return ::rocksdb::Status::IOError(message);
  }
}

StatusOr<std::shared_ptr<BlockCache>> open_from(const CacheOptions& options) {
  if (options.cache != nullptr) return options.cache;
  const StatusOr<Config> config = config_with_restart(options.spec);
  if (!config.ok()) return config.status();
  StatusOr<std::unique_ptr<BlockCache>> opened = open_block_cache(*config);
  if (!opened.ok()) return opened.status();
  return std::shared_ptr<BlockCache>(*std::move(opened));
}

std::string printable_options(const BlockCache& cache) {
  const Stats stats = cache.stats();
  return fmt::format(
      "    nvcache.medium: {}\n    nvcache.size_bytes: {}\n    nvcache.admission: {}\n"
      "    nvcache.eviction: {}\n",
      stats.medium, stats.size_bytes, stats.admission, stats.eviction);
}

}  // namespace nvcache::rocksdb
