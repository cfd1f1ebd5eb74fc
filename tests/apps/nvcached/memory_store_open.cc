// open_kv_store() over a store in memory: `nvcached_memory`, the server of the tests of
// protocols and sockets, has it in place of the real one.
#include <ctime>

#include "apps/nvcached/memory_store.h"

namespace nvcache {

absl::StatusOr<std::unique_ptr<KvStore>> open_kv_store(std::string_view) {
  return std::make_unique<MemoryStore>([] { return static_cast<uint32_t>(std::time(nullptr)); });
}

}  // namespace nvcache
