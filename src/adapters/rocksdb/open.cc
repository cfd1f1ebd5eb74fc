#include "adapters/rocksdb/open.h"

#include "absl/strings/str_cat.h"
#include "adapters/rocksdb/restart_settings.h"

namespace nvcache::rocksdb {

::rocksdb::Status to_rocksdb(const absl::Status& status) {
  const ::rocksdb::Slice message(status.message().data(), status.message().size());
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ::rocksdb::Status::OK();
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ::rocksdb::Status::InvalidArgument(message);
    case absl::StatusCode::kResourceExhausted:
      return ::rocksdb::Status::NoSpace(message);
    case absl::StatusCode::kUnimplemented:
      return ::rocksdb::Status::NotSupported(message);
    default:
      return ::rocksdb::Status::IOError(message);
  }
}

absl::StatusOr<std::shared_ptr<BlockCache>> open_from(const CacheOptions& options) {
  if (options.cache != nullptr) return options.cache;
  absl::StatusOr<std::unique_ptr<BlockCache>> opened =
      open_block_cache(with_restart_settings(options.spec));
  if (!opened.ok()) return opened.status();
  return std::shared_ptr<BlockCache>(*std::move(opened));
}

std::string printable_options(const BlockCache& cache) {
  const Stats stats = cache.stats();
  return absl::StrCat("    nvcache.medium: ", stats.medium,
                      "\n    nvcache.size_bytes: ", stats.size_bytes,
                      "\n    nvcache.admission: ", stats.admission,
                      "\n    nvcache.eviction: ", stats.eviction, "\n");
}

}  // namespace nvcache::rocksdb
