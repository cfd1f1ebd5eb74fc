#include "block_cache/index/volume.h"

#include "fmt/format.h"

namespace nvcache {

Status Volume::check_new_size(uint64_t size_bytes, uint64_t least_bytes, const Config& config) {
  const bool fits = size_bytes == 0 || size_bytes >= least_bytes;
  if (fits && size_bytes <= config.max_size_bytes) return ok_status();
  return out_of_range_error(fmt::format("resize to {} bytes; allowed: 0, and {} to max_size = {}",
                                        size_bytes, least_bytes, config.max_size_bytes));
}

}  // namespace nvcache
