#include "medium/dax_map.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/descriptors.h"
#include "medium/pmem2.h"

namespace nvcache {

// Only a DAX file system maps with MAP_SYNC.
bool is_on_dax(int fd) {
#if defined(MAP_SYNC)
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  if (page == MAP_FAILED) return false;
  munmap(page, page_bytes);
  return true;
#else
  (void)fd;
  return false;
#endif
}

struct DaxMap::Mapping {
  const Pmem2& pmem2;
  pmem2_map* map = nullptr;
  Pmem2::Flush flush = nullptr;
  Pmem2::Drain drain = nullptr;

  ~Mapping() {
    if (map != nullptr) pmem2.map_delete(&map);
  }
};

StatusOr<std::unique_ptr<DaxMap>> DaxMap::map(int fd) {
  if (!is_on_dax(fd) && std::getenv("PMEM2_FORCE_GRANULARITY") == nullptr) return nullptr;
  const StatusOr<const Pmem2*> loaded = Pmem2::get();
  if (!loaded.ok()) return loaded.status();
  const Pmem2& pmem2 = **loaded;
  pmem2_config* config = nullptr;
  pmem2_source* source = nullptr;
  auto mapping = std::make_unique<Mapping>(pmem2);
  const StandardPlacesHeld held;  // it looks at files of /sys
  const bool mapped = pmem2.config_new(&config) == 0 &&
                      pmem2.config_set_required_store_granularity(config, Pmem2::kCacheLine) == 0 &&
                      pmem2.source_from_fd(&source, fd) == 0 &&
                      pmem2.map_new(&mapping->map, config, source) == 0;
  if (source != nullptr) pmem2.source_delete(&source);
  if (config != nullptr) pmem2.config_delete(&config);
  if (!mapped) return nullptr;
  mapping->flush = pmem2.get_flush_fn(mapping->map);
  mapping->drain = pmem2.get_drain_fn(mapping->map);
  return std::unique_ptr<DaxMap>(new DaxMap(std::move(mapping)));
}

std::byte* DaxMap::base() const {
  return static_cast<std::byte*>(mapping_->pmem2.map_get_address(mapping_->map));
}

void DaxMap::flush(uint64_t offset, uint64_t size_bytes) {
  mapping_->flush(base() + offset, size_bytes);
}

void DaxMap::drain() { mapping_->drain(); }

DaxMap::DaxMap(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
DaxMap::~DaxMap() = default;

}  // namespace nvcache
