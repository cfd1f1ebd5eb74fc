// Opens a store by its configuration, or by its specification. An object of its own: tests of what
// stands above the interface link another one in its place.
#include <memory>
#include <new>
#include <utility>

#include "base/no_memory.h"
#include "kv_store/api/config.h"
#include "kv_store/medium/media.h"
#include "kv_store/open_config.h"
#include "kv_store/resize.h"
#include "kv_store/store/store.h"

namespace nvcache {

StatusOr<std::unique_ptr<KvStore>> open_kv_store(KvConfig config,
                                                 std::shared_ptr<KvEvictions> evictions) try {
  config.evictions = std::move(evictions);
  auto medium = open_kv_medium(config);
  if (!medium.ok()) return medium.status();
  auto store = KvStoreImpl::make(std::move(config), *std::move(medium));
  if (!store.ok()) return store.status();
  return std::unique_ptr<KvStore>(*std::move(store));
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory or address space for a store of this size (ulimit -v)");
}

StatusOr<std::unique_ptr<KvStore>> open_kv_store(std::string_view spec,
                                                 std::shared_ptr<KvEvictions> evictions) try {
  StatusOr<KvConfig> config = parse_kv_config(spec);
  if (!config.ok()) return config.status();
  return open_kv_store(*std::move(config), std::move(evictions));
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory to read the specification of a store");
}

StatusOr<KvResized> resize_kv_store(const KvConfig& config, const KvResizeProgress& progress) {
  return resize_kv_file(config, progress);
}

StatusOr<KvResized> resize_kv_store(std::string_view spec, const KvResizeProgress& progress) {
  const StatusOr<KvConfig> config = parse_kv_config(spec);
  return config.ok() ? resize_kv_store(*config, progress) : config.status();
}

}  // namespace nvcache
