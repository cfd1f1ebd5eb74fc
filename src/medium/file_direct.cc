#include "medium/file_direct.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/assert.h"
#include "base/text.h"
#include "medium/check.h"
#include "medium/file_steps.h"

namespace nvcache {
namespace {

constexpr uint32_t kSmallestGranularityBytes = 512;

// A read of one unit at the second unit of the file; false if the unit is too small.
bool can_read_unit(int fd, uint32_t unit_bytes) {
  void* const buffer = std::aligned_alloc(unit_bytes, unit_bytes);
  if (buffer == nullptr) return false;
  const ssize_t got = pread(fd, buffer, unit_bytes, static_cast<off_t>(unit_bytes));
  const bool refused = got < 0 && errno == EINVAL;
  std::free(buffer);
  return !refused;
}

// 0: the file system says that it has no direct I/O for this file, or no unit can be read.
uint32_t direct_granularity_bytes(int fd) {
#ifdef STATX_DIOALIGN
  struct statx found {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &found) == 0 &&
      (found.stx_mask & STATX_DIOALIGN) != 0) {
    if (found.stx_dio_offset_align == 0) return 0;
    return std::max(
        {found.stx_dio_offset_align, found.stx_dio_mem_align, kSmallestGranularityBytes});
  }
#endif
  return smallest_direct_unit([fd](uint32_t unit_bytes) { return can_read_unit(fd, unit_bytes); });
}

}  // namespace

uint32_t smallest_direct_unit(FunctionRef<bool(uint32_t unit_bytes)> works) {
  for (uint32_t unit_bytes = kUsualDirectUnitBytes; unit_bytes <= kLargestDirectUnitBytes;
       unit_bytes *= 2) {
    if (works(unit_bytes)) return unit_bytes;
  }
  return 0;
}

StatusOr<std::unique_ptr<Medium>> DirectFileMedium::open(const std::string& path,
                                                         MediumOptions options) {
  auto file = PreallocatedFile::open(path, options, O_DIRECT);
  if (!file.ok()) return file.status();
  const uint32_t granularity_bytes = direct_granularity_bytes((*file)->fd());
  if (granularity_bytes == 0 || granularity_bytes > kLargestDirectUnitBytes) {
    return failed_precondition_error(
        fmt::format("file {}: no O_DIRECT with sectors of up to {} bytes; allowed there: io=mmap",
                    path, kLargestDirectUnitBytes));
  }
  const uint64_t size_bytes = options.size_bytes / granularity_bytes * granularity_bytes;
  if (size_bytes == 0) {
    return invalid_argument("file {}: size {}; allowed with io=direct: at least {} bytes", path,
                            options.size_bytes, granularity_bytes);
  }
  Traits traits{.name = "file",
                .persistent = true,
                .is_device = true,
                .io_granularity_bytes = granularity_bytes,
                .flush_granularity_bytes = granularity_bytes};
  find_way(options.async, (*file)->fd(), &traits);
  return std::unique_ptr<Medium>(new DirectFileMedium(*std::move(file), size_bytes, traits));
}

DirectFileMedium::DirectFileMedium(std::unique_ptr<PreallocatedFile> file, uint64_t size_bytes,
                                   const Traits& traits)
    : file_(std::move(file)),
      size_bytes_(size_bytes),
      traits_(traits),
      queues_({.medium = *this, .fd = file_->fd(), .first_byte = 0}, traits_.async) {
  NVCACHE_ASSERT(size_bytes % traits_.io_granularity_bytes == 0 &&
                 size_bytes <= file_->max_size_bytes());
}

Status DirectFileMedium::check(uint64_t offset, const void* buffer, uint64_t length) const {
  if (Status status = check_range(file_->path(), offset, length, size_bytes()); !status.ok()) {
    return status;
  }
  return check_granularity(file_->path(), offset, buffer, length, traits_.io_granularity_bytes);
}

Status DirectFileMedium::read(uint64_t offset, MutableBytes into) {
  if (Status status = check(offset, into.data(), into.size()); !status.ok()) return status;
  return file_->read(offset, into);
}

Status DirectFileMedium::write(uint64_t offset, ByteView from) {
  if (Status status = check(offset, from.data(), from.size()); !status.ok()) return status;
  return file_->write(offset, from);
}

Status DirectFileMedium::drain() { return sync_file(file_->fd(), file_->path()); }

Status DirectFileMedium::discard(Extent extent) {
  if (Status status = check(extent.offset, nullptr, extent.size_bytes); !status.ok()) {
    return status;
  }
  return file_->free_extent(extent);
}

Status DirectFileMedium::resize(uint64_t size_bytes) {
  if (Status status = check_resize(file_->path(), size_bytes, file_->max_size_bytes());
      !status.ok()) {
    return status;
  }
  const uint32_t granularity_bytes = traits_.io_granularity_bytes;
  if (size_bytes % granularity_bytes != 0) {
    return invalid_argument("file {}: size {}; allowed with io=direct: multiples of {}",
                            file_->path(), size_bytes, granularity_bytes);
  }
  const uint64_t old_size_bytes = this->size_bytes();
  if (size_bytes > old_size_bytes) {
    if (Status status = file_->allocate(size_bytes); !status.ok()) return status;
  }
  size_bytes_.store(size_bytes, std::memory_order_relaxed);
  return file_->free_tail(size_bytes, old_size_bytes);
}

}  // namespace nvcache
