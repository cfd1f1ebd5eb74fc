// Links open_kv_store() to a store in memory. `nvcached_memory`, the server in tests of protocols
// and sockets, uses it instead of the real one.
#include <ctime>

#include "apps/nvcached/memory_store.h"
#include "kv_store/open_config.h"

namespace nvcache {

StatusOr<std::unique_ptr<KvStore>> open_kv_store(KvConfig, std::shared_ptr<KvEvictions>) {
  return std::make_unique<MemoryStore>([] { return static_cast<uint32_t>(std::time(nullptr)); });
}

StatusOr<KvResized> resize_kv_store(const KvConfig&, const KvResizeProgress&) {
  return KvResized{};
}

}  // namespace nvcache
