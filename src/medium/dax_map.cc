#include "medium/dax_map.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "base/descriptors.h"

#ifdef NVCACHE_PMEM2
#include <libpmem2.h>
#endif

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

#ifdef NVCACHE_PMEM2

struct DaxMap::Library {
  pmem2_map* map = nullptr;
  pmem2_flush_fn flush = nullptr;
  pmem2_drain_fn drain = nullptr;

  ~Library() {
    if (map != nullptr) pmem2_map_delete(&map);
  }
};

std::unique_ptr<DaxMap> DaxMap::map(int fd) {
  pmem2_config* config = nullptr;
  pmem2_source* source = nullptr;
  auto library = std::make_unique<Library>();
  const StandardPlacesHeld held;  // it looks at files of /sys
  const bool mapped =
      pmem2_config_new(&config) == 0 &&
      pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_CACHE_LINE) == 0 &&
      pmem2_source_from_fd(&source, fd) == 0 && pmem2_map_new(&library->map, config, source) == 0;
  if (source != nullptr) pmem2_source_delete(&source);
  if (config != nullptr) pmem2_config_delete(&config);
  if (!mapped) return nullptr;
  library->flush = pmem2_get_flush_fn(library->map);
  library->drain = pmem2_get_drain_fn(library->map);
  return std::unique_ptr<DaxMap>(new DaxMap(std::move(library)));
}

std::byte* DaxMap::base() const {
  return static_cast<std::byte*>(pmem2_map_get_address(library_->map));
}

void DaxMap::flush(uint64_t offset, uint64_t size_bytes) {
  library_->flush(base() + offset, size_bytes);
}

void DaxMap::drain() { library_->drain(); }

#else

struct DaxMap::Library {};

std::unique_ptr<DaxMap> DaxMap::map(int) { return nullptr; }
std::byte* DaxMap::base() const { return nullptr; }
void DaxMap::flush(uint64_t, uint64_t) {}
void DaxMap::drain() {}

#endif

DaxMap::DaxMap(std::unique_ptr<Library> library) : library_(std::move(library)) {}
DaxMap::~DaxMap() = default;

}  // namespace nvcache
