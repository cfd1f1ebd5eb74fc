// Stands in for profile_rocksdb.cc where RocksDB was left out of the build.
#include "experiments/hybrid_cache/profile_store.h"

namespace nvcache {
#if !NVCACHE_HAS_ROCKSDB
namespace {

Status not_built() {
  return unimplemented_error(
      "this nvcache was built without RocksDB; install librocksdb-dev (script/setup) and build "
      "again");
}

}  // namespace

Status check_store(const std::string&, const std::string&) { return not_built(); }

Status load_store(const std::string&, const ProfileRecords&, uint32_t, uint64_t, uint64_t,
                  const std::function<void(uint64_t loaded)>&) {
  return not_built();
}

StatusOr<std::unique_ptr<ProfileStore>> open_store(const StoreOptions&) { return not_built(); }

nlohmann::json describe_store() { return {{"name", "none"}}; }

#endif
}  // namespace nvcache
