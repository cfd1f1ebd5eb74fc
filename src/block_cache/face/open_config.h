// Opens a block cache for what stands above, from a configuration that was read already.
#pragma once

#include <memory>

#include "block_cache/api/config.h"
#include "nvcache/block_cache.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Does what open_block_cache() of a specification does.
[[nodiscard]] StatusOr<std::unique_ptr<BlockCache>> open_block_cache(const Config& config);

}  // namespace nvcache
