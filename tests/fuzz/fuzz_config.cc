// The specification parser: any bytes give a configuration that keeps its own
// rules, or an error that names what is wrong.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "block_cache/api/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nvcache::StatusOr<nvcache::Config> config = nvcache::parse_config(text);
  if (!config.ok()) {
    if (config.status().message().empty()) std::abort();
    return 0;
  }
  if (config->size_bytes < nvcache::Config::kMinSizeBytes ||
      config->max_size_bytes < config->size_bytes ||
      config->max_size_bytes > nvcache::Config::kMaxSizeBytes) {
    std::abort();
  }
  return 0;
}
