// Opens a store by its specification. An object of its own: tests of what stands above the
// interface link another one in its place.
#include <memory>
#include <new>
#include <utility>

#include "base/no_memory.h"
#include "kv_store/api/config.h"
#include "kv_store/medium/media.h"
#include "kv_store/resize.h"
#include "kv_store/store/store.h"

namespace nvcache {

StatusOr<std::unique_ptr<KvStore>> open_kv_store(std::string_view spec,
                                                 std::shared_ptr<KvEvictions> evictions) try {
  auto config = parse_kv_config(spec);
  if (!config.ok()) return config.status();
  config->evictions = std::move(evictions);
  auto medium = open_kv_medium(*config);
  if (!medium.ok()) return medium.status();
  auto store = KvStoreImpl::make(*std::move(config), *std::move(medium));
  if (!store.ok()) return store.status();
  return std::unique_ptr<KvStore>(*std::move(store));
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory or address space for a store of this size (ulimit -v)");
}

StatusOr<KvResized> resize_kv_store(std::string_view spec, const KvResizeProgress& progress) {
  const auto config = parse_kv_config(spec);
  if (!config.ok()) return config.status();
  return resize_kv_file(*config, progress);
}

}  // namespace nvcache
