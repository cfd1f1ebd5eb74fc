#include "base/reserved_array.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace nvcache {
namespace {
constexpr size_t kLargeBytes = size_t{64} << 20;
[[maybe_unused]] constexpr size_t kPageBytes = 4096;
}  // namespace

void* reserve_zeroed(size_t size_bytes, Pages pages) {
  void* start = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  const bool large = size_bytes >= kLargeBytes;
  if (pages == Pages::kHuge || (pages == Pages::kHugeIfLarge && large)) {
    madvise(start, size_bytes, MADV_HUGEPAGE);
  }
  return start;
}

void populate_reserved(void* start, size_t size_bytes) {
  auto* const bytes = static_cast<std::byte*>(start);
  const size_t before_huge = (kHugePageBytes - reinterpret_cast<uintptr_t>(start)) % kHugePageBytes;
  if (size_bytes >= before_huge + kHugePageBytes) {
    const size_t huge_bytes = (size_bytes - before_huge) / kHugePageBytes * kHugePageBytes;
    madvise(bytes + before_huge, huge_bytes, MADV_HUGEPAGE);
  }
#ifdef MADV_POPULATE_WRITE
  const size_t in_page = reinterpret_cast<uintptr_t>(start) % kPageBytes;
  madvise(bytes - in_page, size_bytes + in_page, MADV_POPULATE_WRITE);
#endif
}

void release_reserved(void* start, size_t size_bytes) { munmap(start, size_bytes); }

void discard_reserved(void* start, size_t size_bytes) { madvise(start, size_bytes, MADV_DONTNEED); }

}  // namespace nvcache
