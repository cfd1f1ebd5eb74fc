// A cache as WiredTiger's configuration brings it, as a specification and as a list: any text is
// taken or refused.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "adapters/wiredtiger/cache_settings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)nvcache::read_cache_list("(" + std::string(text) + ")");
  const auto cache = nvcache::read_cache(text);
  // An added setting must not break a right specification.
  const bool alone = nvcache::parse_config(text).ok();
  if (alone && (!cache.ok() || !*cache || (*cache)->size_bytes == 0)) std::abort();
  return 0;
}
