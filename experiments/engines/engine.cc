#include "experiments/engines/engine.h"

#include <utility>

#include "base/text.h"
#if NVCACHE_HAS_ROCKSDB
#include "experiments/engines/rocksdb_engine.h"
#endif
#if NVCACHE_HAS_WIREDTIGER
#include "experiments/engines/wiredtiger_engine.h"
#endif

namespace nvcache {

// As it is written: nothing comes back from a run before unless it says so.
StatusOr<std::shared_ptr<BlockCache>> EngineKind::open_tier(const std::string& spec) const {
  if (spec.empty()) return nullptr;
  StatusOr<std::unique_ptr<BlockCache>> tier = open_block_cache(spec);
  if (!tier.ok()) return tier.status();
  return std::shared_ptr<BlockCache>(*std::move(tier));
}

Status EngineKind::check_storage(const std::string& storage) const {
  if (storage.empty()) return ok_status();
  return invalid_argument("--storage {}: rocksdb alone has one", storage);
}

StatusOr<std::unique_ptr<EngineKind>> make_engine_kind(std::string_view name) {
  if (name == "rocksdb" || name == "rocksdb-small") {
#if NVCACHE_HAS_ROCKSDB
    return make_rocksdb_kind(name == "rocksdb" ? RocksdbShape{} : small_rocksdb());
#else
    return unimplemented_error(
        "engine rocksdb: this nvcache was built without RocksDB; install librocksdb-dev "
        "(script/setup) and build again");
#endif
  }
  if (name == "wiredtiger") {
#if NVCACHE_HAS_WIREDTIGER
    return make_wiredtiger_kind();
#else
    return unimplemented_error(
        "engine wiredtiger: this nvcache was built without WiredTiger; run script/wiredtiger, "
        "which gets it, and build again");
#endif
  }
  return invalid_argument("engine '{}': allowed are rocksdb, wiredtiger", name);
}

}  // namespace nvcache
