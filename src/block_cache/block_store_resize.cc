// How a block cache gives space of its medium back, or takes more.
#include <algorithm>
#include <memory>
#include <new>

#include "base/no_memory.h"
#include "block_cache/block_store.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

Status refuse_size(uint64_t size_bytes, uint64_t least_bytes, const Config& config) {
  return out_of_range_error(fmt::format("resize to {} bytes; allowed: 0, and {} to max_size = {}",
                                        size_bytes, least_bytes, config.max_size_bytes));
}

}  // namespace

Status BlockStore::resize(uint64_t size_bytes) try {
  MutexLock lock(resize_mutex_);
  return regions_ != nullptr ? resize_regions(size_bytes) : resize_in_place(size_bytes);
} catch (const std::bad_alloc&) {
  return no_memory_status("no memory to resize the cache");
}

Status BlockStore::resize_in_place(uint64_t size_bytes) {
  const uint64_t least_bytes = std::max<uint64_t>(Config::kMinSizeBytes, in_place_->grain_bytes());
  if ((size_bytes > 0 && size_bytes < least_bytes) || size_bytes > config_.max_size_bytes) {
    return refuse_size(size_bytes, least_bytes, config_);
  }
  // Whole grains: a device takes no other size, and the rest could hold no block.
  size_bytes -= size_bytes % in_place_->grain_bytes();
  if (size_bytes > in_place_->limit_bytes()) {
    Status grown = medium_->resize(std::max(size_bytes, medium_->size_bytes()));
    if (grown.ok()) in_place_->set_limit(size_bytes);
    return grown;
  }
  in_place_->set_limit(size_bytes);
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->evict_between(size_bytes / in_place_->grain_bytes(), ~uint64_t{0});
  }
  // What readers still pin beyond the limit keeps its memory until the next resize.
  return medium_->resize(std::min(std::max({size_bytes, least_bytes, in_place_->taken_end_bytes()}),
                                  medium_->size_bytes()));
}

Status BlockStore::resize_regions(uint64_t size_bytes) {
  const Geometry& geometry = regions_->geometry();
  const uint64_t least_bytes = geometry.region_at(RegionSpace::kLeastRegions);
  if ((size_bytes > 0 && size_bytes < least_bytes) || size_bytes > config_.max_size_bytes) {
    return refuse_size(size_bytes, least_bytes, config_);
  }
  const uint32_t before = regions_->regions();
  const uint32_t wanted = geometry.regions_in(size_bytes);
  if (wanted > before) {
    Status grown = medium_->resize(std::max(geometry.region_at(wanted), medium_->size_bytes()));
    if (grown.ok()) regions_->set_limit(wanted);
    return grown;
  }
  regions_->set_limit(wanted);
  regions_->writer().drain(RegionWriter::Close::kEmptyToo);
  return shrink_to(wanted);
}

// Nothing is appended beyond that region. While blocks come back, the medium keeps its size.
Status BlockStore::shrink_to(uint32_t regions) {
  const bool recovering = regions_->recovering();
  const Geometry& geometry = regions_->geometry();
  region_eviction_->drop_between(regions, geometry.regions_in(config_.max_size_bytes));
  if (recovering) return ok_status();
  // What readers still pin beyond the limit keeps its space until the next resize.
  const uint32_t needed = std::max(regions_->taken_end(), regions);
  return medium_->resize(std::min(geometry.region_at(needed), medium_->size_bytes()));
}

void BlockStore::finish_resize() {
  MutexLock lock(resize_mutex_);
  if (regions_->geometry().end_of(regions_->regions()) > medium_->size_bytes()) return;
  health_.note(MediumHealth::Kind::kWrite, shrink_to(regions_->regions()));
}

}  // namespace nvcache
