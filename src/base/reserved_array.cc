#include "base/reserved_array.h"

#include <sys/mman.h>

#include <new>

namespace nvcache {
namespace {
constexpr size_t kLargeBytes = size_t{64} << 20;
}

void* reserve_zeroed(size_t size_bytes, Pages pages) {
  void* start = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  if (pages == Pages::kHugeIfLarge && size_bytes >= kLargeBytes) {
    madvise(start, size_bytes, MADV_HUGEPAGE);
  }
  return start;
}

void populate_reserved([[maybe_unused]] void* start, [[maybe_unused]] size_t size_bytes) {
#ifdef MADV_POPULATE_WRITE
  madvise(start, size_bytes, MADV_POPULATE_WRITE);
#endif
}

void release_reserved(void* start, size_t size_bytes) { munmap(start, size_bytes); }

void discard_reserved(void* start, size_t size_bytes) { madvise(start, size_bytes, MADV_DONTNEED); }

}  // namespace nvcache
