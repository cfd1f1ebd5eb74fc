#include "medium/populate.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/assert.h"

namespace nvcache {
namespace {

constexpr uint64_t kPagesAtOnce = 1024;
constexpr uint64_t kZeroBytes = 256 << 10;
// Nobody writes it. Not constant, so that it takes no room in the binary.
std::array<std::byte, kZeroBytes> zeros;

bool write_zeros(int fd, uint64_t offset, uint64_t size_bytes) {
  for (uint64_t done = 0; done < size_bytes;) {
    const uint64_t part_bytes = std::min(kZeroBytes, size_bytes - done);
    const ssize_t wrote = ::pwrite(fd, zeros.data(), part_bytes, static_cast<off_t>(offset + done));
    if (wrote <= 0) return false;
    done += static_cast<uint64_t>(wrote);
  }
  return true;
}

// A write() makes new pages in large pieces, and reads nothing.
void fill_missing_pages(int fd, std::byte* base, Extent extent, uint64_t page_bytes) {
  std::array<unsigned char, kPagesAtOnce> resident{};
  const uint64_t pages = extent.size_bytes / page_bytes;
  NVCACHE_ASSERT(pages <= resident.size() && extent.offset % page_bytes == 0);
  if (::mincore(base + extent.offset, extent.size_bytes, resident.data()) != 0) return;
  for (uint64_t page = 0; page < pages;) {
    uint64_t end = page;
    while (end < pages && (resident[end] & 1) == 0) ++end;
    const uint64_t at = extent.offset + page * page_bytes;
    if (end > page && !write_zeros(fd, at, (end - page) * page_bytes)) return;
    page = std::max(end, page + 1);
  }
}

}  // namespace

void populate_memory(ByteView bytes) {
#ifdef MADV_POPULATE_WRITE
  const auto page_bytes = static_cast<uintptr_t>(::getpagesize());
  const auto from = reinterpret_cast<uintptr_t>(bytes.data()) / page_bytes * page_bytes;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size());
  (void)::madvise(reinterpret_cast<void*>(from), end - from, MADV_POPULATE_WRITE);
#else
  (void)bytes;
#endif
}

void populate_file(int fd, std::byte* base, Extent extent) {
  const auto page_bytes = static_cast<uint64_t>(::getpagesize());
  const uint64_t from = (extent.offset + page_bytes - 1) / page_bytes * page_bytes;
  const uint64_t end = (extent.offset + extent.size_bytes) / page_bytes * page_bytes;
  for (uint64_t at = from; at < end; at += kPagesAtOnce * page_bytes) {
    const Extent part{at, std::min(kPagesAtOnce * page_bytes, end - at)};
    fill_missing_pages(fd, base, part, page_bytes);
    populate_memory({base + part.offset, part.size_bytes});
  }
}

}  // namespace nvcache
