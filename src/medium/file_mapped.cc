#include "medium/file_mapped.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "medium/check.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14; older kernels answer EINVAL
#endif

namespace nvcache {
namespace {

// Only a DAX file system maps with MAP_SYNC: there is no page cache to reclaim from.
bool on_dax(int fd, uint64_t page_bytes) {
#if defined(MAP_SYNC)
  void* page = mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  if (page == MAP_FAILED) return false;
  munmap(page, page_bytes);
  return true;
#else
  (void)fd;
  (void)page_bytes;
  return false;
#endif
}

}  // namespace

absl::StatusOr<std::unique_ptr<Medium>> MappedFileMedium::open(const std::string& path,
                                                               const MediumOptions& options) {
  auto file = PreallocatedFile::open(path, options, 0);
  if (!file.ok()) return file.status();
  void* base = mmap(nullptr, options.max_size_bytes, PROT_READ, MAP_SHARED, (*file)->fd(), 0);
  if (base == MAP_FAILED) {
    return errno_status(fmt::format("mapping {} bytes of file", options.max_size_bytes),
                        (*file)->path(), errno);
  }
  // Hits are scattered: reading ahead would fetch blocks that nobody asked for.
  madvise(base, options.max_size_bytes, MADV_RANDOM);
  return std::unique_ptr<Medium>(
      new MappedFileMedium(*std::move(file), static_cast<std::byte*>(base), options.size_bytes));
}

MappedFileMedium::MappedFileMedium(std::unique_ptr<PreallocatedFile> file, std::byte* base,
                                   uint64_t size_bytes)
    : file_(std::move(file)),
      base_(base),
      size_bytes_(size_bytes),
      page_bytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))),
      traits_{.name = "file",
              .byte_addressable = true,
              .persistent = true,
              .charges_direct_reads = true,
              .may_fault = !on_dax(file_->fd(), page_bytes_),
              .flush_granularity_bytes = static_cast<uint32_t>(page_bytes_)} {}

MappedFileMedium::~MappedFileMedium() { munmap(base_, file_->max_size_bytes()); }

absl::Status MappedFileMedium::read(uint64_t offset, MutableBytes into) {
  if (absl::Status status = check_range(file_->path(), offset, into.size(), size_bytes());
      !status.ok()) {
    return status;
  }
  return file_->read(offset, into);
}

absl::Status MappedFileMedium::write(uint64_t offset, ByteView from) {
  if (absl::Status status = check_range(file_->path(), offset, from.size(), size_bytes());
      !status.ok()) {
    return status;
  }
  return file_->write(offset, from);
}

absl::Status MappedFileMedium::flush(Extent extent) {
  if (absl::Status status =
          check_range(file_->path(), extent.offset, extent.size_bytes, size_bytes());
      !status.ok()) {
    return status;
  }
  if (sync_file_range(file_->fd(), static_cast<off_t>(extent.offset),
                      static_cast<off_t>(extent.size_bytes), SYNC_FILE_RANGE_WRITE) == 0 ||
      errno == ESPIPE || errno == ENOSYS) {
    return absl::OkStatus();
  }
  return errno_status("flushing file", file_->path(), errno);
}

absl::Status MappedFileMedium::drain() {
  if (fdatasync(file_->fd()) == 0) return absl::OkStatus();
  return errno_status("flushing file", file_->path(), errno);
}

absl::Status MappedFileMedium::on_direct_read(Extent extent) {
  if (absl::Status status =
          check_range(file_->path(), extent.offset, extent.size_bytes, size_bytes());
      !status.ok()) {
    return status;
  }
  const uint64_t begin = extent.offset / page_bytes_ * page_bytes_;
  const uint64_t length = extent.offset + extent.size_bytes - begin;
  // What is not in memory is fetched at once, rather than a page fault at a time.
  if (length > page_bytes_) madvise(base_ + begin, length, MADV_WILLNEED);
  if (madvise(base_ + begin, length, MADV_POPULATE_READ) == 0) return absl::OkStatus();
  const int error = errno;
  if (absl::Status status = file_->check_length(); !status.ok()) return status;
  // An older kernel cannot ask for the pages; the length is what it can check.
  if (error == EINVAL) return absl::OkStatus();
  // EFAULT: touching a page would raise SIGBUS, as on a disk error.
  return errno_status("reading in place file", file_->path(), error == EFAULT ? EIO : error);
}

absl::Status MappedFileMedium::resize(uint64_t size_bytes) {
  if (absl::Status status = check_resize(file_->path(), size_bytes, file_->max_size_bytes());
      !status.ok()) {
    return status;
  }
  const uint64_t old_size_bytes = this->size_bytes();
  if (size_bytes > old_size_bytes) {
    if (absl::Status status = file_->allocate(size_bytes); !status.ok()) return status;
  }
  size_bytes_.store(size_bytes, std::memory_order_relaxed);
  return file_->free_tail(size_bytes, old_size_bytes);
}

}  // namespace nvcache
