#include "cli/bench/engine.h"

#include "absl/strings/str_format.h"
#if NVCACHE_HAS_ROCKSDB
#include "cli/bench/rocksdb_engine.h"
#endif

namespace nvcache {

absl::StatusOr<std::unique_ptr<EngineKind>> make_engine_kind(std::string_view name) {
  if (name == "rocksdb") {
#if NVCACHE_HAS_ROCKSDB
    return make_rocksdb_kind();
#else
    return absl::UnimplementedError("engine rocksdb: this nvcache was built without RocksDB");
#endif
  }
  return absl::InvalidArgumentError(absl::StrFormat("engine '%s': allowed is rocksdb", name));
}

}  // namespace nvcache
