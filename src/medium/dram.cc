#include "medium/dram.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/errno_status.h"
#include "base/text.h"
#include "medium/check.h"
#include "medium/table.h"

namespace nvcache {

StatusOr<std::unique_ptr<Medium>> DramMedium::open(const MediumOptions& options) {
  const auto wanted = complete_options("dram", options);
  if (!wanted.ok()) return wanted.status();
  void* base = mmap(nullptr, wanted->max_size_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return errno_status("reserving address space for medium",
                        fmt::format("dram of {} bytes", wanted->max_size_bytes), errno);
  }
  // Fewer TLB misses on random hits. Refusal costs speed only, so it is no error.
  madvise(base, wanted->max_size_bytes, MADV_HUGEPAGE);
  return std::unique_ptr<Medium>(
      new DramMedium(static_cast<std::byte*>(base), wanted->size_bytes, wanted->max_size_bytes));
}

DramMedium::DramMedium(std::byte* base, uint64_t size_bytes, uint64_t max_size_bytes)
    : base_(base),
      max_size_bytes_(max_size_bytes),
      size_bytes_(size_bytes),
      traits_{.name = "dram", .reads = Reads::kInPlace} {
  NVCACHE_ASSERT(size_bytes > 0 && size_bytes <= max_size_bytes);
}

DramMedium::~DramMedium() { munmap(base_, max_size_bytes_); }

Status DramMedium::read(uint64_t offset, MutableBytes into) {
  if (Status status = check_range("dram", offset, into.size(), size_bytes()); !status.ok()) {
    return status;
  }
  if (!into.empty()) std::memcpy(into.data(), base_ + offset, into.size());
  return ok_status();
}

Status DramMedium::write(uint64_t offset, ByteView from) {
  if (Status status = check_range("dram", offset, from.size(), size_bytes()); !status.ok()) {
    return status;
  }
  if (!from.empty()) std::memcpy(base_ + offset, from.data(), from.size());
  return ok_status();
}

Status DramMedium::resize(uint64_t size_bytes) {
  if (Status status = check_resize("dram", size_bytes, max_size_bytes_); !status.ok()) {
    return status;
  }
  const uint64_t old_size_bytes = size_bytes_.exchange(size_bytes, std::memory_order_relaxed);
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t first_free = (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
  if (first_free < old_size_bytes) {
    madvise(base_ + first_free, old_size_bytes - first_free, MADV_DONTNEED);
  }
  return ok_status();
}

StatusOr<MediumOpener> parse_dram(const MediumSpec&) {
  return [](const MediumOptions& options, Clock&) { return DramMedium::open(options); };
}

}  // namespace nvcache
