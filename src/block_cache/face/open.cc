// Opens a block cache, on the machine's own clock.
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/no_memory.h"
#include "block_cache/api/config.h"
#include "block_cache/face/block_cache_impl.h"
#include "block_cache/face/open_config.h"
#include "medium/medium.h"
#include "nvcache/block_cache.h"

namespace nvcache {

StatusOr<std::unique_ptr<BlockCache>> open_block_cache(const Config& config) try {
  StatusOr<std::unique_ptr<Medium>> medium =
      open_medium(config.medium, options_of_medium(config), system_clock());
  if (!medium.ok()) return medium.status();
  StatusOr<std::unique_ptr<BlockCacheImpl>> cache =
      BlockCacheImpl::make(config, *std::move(medium), system_clock());
  if (!cache.ok()) return cache.status();
  return std::unique_ptr<BlockCache>(*std::move(cache));
} catch (const std::bad_alloc&) {
  return no_memory_status(
      "no memory or address space for a cache of this size; allowed: less (max_size), or more of "
      "both (ulimit -v)");
}

StatusOr<std::unique_ptr<BlockCache>> open_block_cache(std::string_view spec) try {
  const StatusOr<Config> config = parse_config(spec);
  return config.ok() ? open_block_cache(*config) : config.status();
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory to read the specification of a cache");
}

}  // namespace nvcache
