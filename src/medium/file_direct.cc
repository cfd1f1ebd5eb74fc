#include "medium/file_direct.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "medium/check.h"

namespace nvcache {
namespace {

constexpr uint32_t kDefaultGranularityBytes = 4096;
constexpr uint32_t kSmallestGranularityBytes = 512;

// 0: the file system says that it has no direct I/O for this file.
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
  static_cast<void>(fd);
  return kDefaultGranularityBytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Medium>> DirectFileMedium::open(const std::string& path,
                                                               MediumOptions options) {
  auto file = PreallocatedFile::open(path, options, O_DIRECT);
  if (!file.ok()) return file.status();
  const uint32_t granularity_bytes = direct_granularity_bytes((*file)->fd());
  if (granularity_bytes == 0) {
    return absl::FailedPreconditionError(
        fmt::format("file {}: its file system has no O_DIRECT; allowed there: io=mmap", path));
  }
  const uint64_t size_bytes = options.size_bytes / granularity_bytes * granularity_bytes;
  if (size_bytes == 0) {
    return invalid_argument("file {}: size {}; allowed with io=direct: at least {} bytes", path,
                            options.size_bytes, granularity_bytes);
  }
  return std::unique_ptr<Medium>(
      new DirectFileMedium(*std::move(file), size_bytes, granularity_bytes));
}

DirectFileMedium::DirectFileMedium(std::unique_ptr<PreallocatedFile> file, uint64_t size_bytes,
                                   uint32_t granularity_bytes)
    : file_(std::move(file)),
      size_bytes_(size_bytes),
      traits_{.name = "file",
              .persistent = true,
              .is_device = true,
              .io_granularity_bytes = granularity_bytes,
              .flush_granularity_bytes = granularity_bytes} {}

absl::Status DirectFileMedium::check(uint64_t offset, const void* buffer, uint64_t length) const {
  if (absl::Status status = check_range(file_->path(), offset, length, size_bytes());
      !status.ok()) {
    return status;
  }
  return check_granularity(file_->path(), offset, buffer, length, traits_.io_granularity_bytes);
}

absl::Status DirectFileMedium::read(uint64_t offset, MutableBytes into) {
  if (absl::Status status = check(offset, into.data(), into.size()); !status.ok()) return status;
  return file_->read(offset, into);
}

absl::Status DirectFileMedium::write(uint64_t offset, ByteView from) {
  if (absl::Status status = check(offset, from.data(), from.size()); !status.ok()) return status;
  return file_->write(offset, from);
}

absl::Status DirectFileMedium::drain() {
  if (fdatasync(file_->fd()) == 0) return absl::OkStatus();
  return errno_status("flushing file", file_->path(), errno);
}

absl::Status DirectFileMedium::resize(uint64_t size_bytes) {
  if (absl::Status status = check_resize(file_->path(), size_bytes, file_->max_size_bytes());
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
    if (absl::Status status = file_->allocate(size_bytes); !status.ok()) return status;
  }
  size_bytes_.store(size_bytes, std::memory_order_relaxed);
  return file_->free_tail(size_bytes, old_size_bytes);
}

}  // namespace nvcache
