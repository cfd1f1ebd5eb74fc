// A cache specification as WiredTiger's configuration brings it: any list becomes a text
// that the specification parser takes or refuses.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "adapters/wiredtiger/spec_text.h"
#include "block_cache/api/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string list = nvcache::spec_of_list("(" + std::string(text) + ")");
  if (!list.starts_with("nvcache://?")) std::abort();
  for (const std::string& spec : {list, std::string(text)}) {
    const std::string complete = nvcache::complete_cache_spec(spec);
    if (complete.empty()) continue;
    // What is added must not break what was right.
    const bool before = nvcache::parse_config(spec).ok();
    const auto after = nvcache::parse_config(complete);
    if (before && (!after.ok() || after->size_bytes == 0)) std::abort();
  }
  return 0;
}
