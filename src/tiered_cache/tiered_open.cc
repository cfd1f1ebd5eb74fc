// Opens a tiered cache from its specification.
#include <memory>
#include <string_view>
#include <utility>

#include "nvcache/tiered_cache.h"
#include "tiered_cache/tiered_cache_impl.h"
#include "tiered_cache/tiered_config.h"

namespace nvcache {

StatusOr<std::unique_ptr<TieredCache>> open_tiered_cache(std::string_view spec,
                                                         std::shared_ptr<ObjectCodec> codec) {
  const StatusOr<TieredConfig> config = parse_tiered_config(spec);
  if (!config.ok()) return config.status();
  StatusOr<std::unique_ptr<TieredCacheImpl>> cache =
      TieredCacheImpl::make(*config, std::move(codec));
  if (!cache.ok()) return cache.status();
  return std::unique_ptr<TieredCache>(*std::move(cache));
}

}  // namespace nvcache
