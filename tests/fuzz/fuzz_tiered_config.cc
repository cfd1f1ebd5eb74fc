// The tiered cache's specification parser: any bytes give a configuration that keeps its
// own rules, or an error that names what is wrong.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tiered_cache/tiered_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nvcache::TieredConfig;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nvcache::StatusOr<TieredConfig> config = nvcache::parse_tiered_config(text);
  if (!config.ok()) {
    if (config.status().message().empty()) std::abort();
    return 0;
  }
  if (config->tiers.size() > TieredConfig::kMaxTiers ||
      config->dram_bytes > TieredConfig::kMaxDramBytes ||
      (config->dram_bytes == 0 && config->tiers.empty()) ||
      config->high_ratio + config->low_ratio > 1) {
    std::abort();
  }
  for (const nvcache::TierConfig& tier : config->tiers) {
    if (tier.cache.size_bytes < nvcache::Config::kMinSizeBytes) std::abort();
    if (!tier.name.empty() && &tier != &config->tiers.back()) std::abort();
  }
  return 0;
}
