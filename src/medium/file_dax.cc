#include "medium/file_dax.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/errno_status.h"
#include "base/text.h"
#include "medium/check.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14; older kernels answer EINVAL
#endif

namespace nvcache {
namespace {

uint64_t system_page_bytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

Traits traits_in_place(const Traits& buffered) {
  Traits traits = buffered;
  traits.reads = Reads::kInPlaceAsked;
  return traits;
}

}  // namespace

StatusOr<std::unique_ptr<Medium>> DaxFileMedium::map(std::unique_ptr<BufferedFileMedium> file) {
  const uint64_t max_size_bytes = file->file().max_size_bytes();
  void* base = mmap(nullptr, max_size_bytes, PROT_READ, MAP_SHARED, file->file().fd(), 0);
  if (base == MAP_FAILED) {
    return errno_status(fmt::format("mapping {} bytes of file", max_size_bytes),
                        file->file().path(), errno);
  }
  // Hits are scattered: reading ahead would fetch blocks that nobody asked for.
  madvise(base, max_size_bytes, MADV_RANDOM);
  return std::unique_ptr<Medium>(new DaxFileMedium(std::move(file), static_cast<std::byte*>(base)));
}

DaxFileMedium::DaxFileMedium(std::unique_ptr<BufferedFileMedium> file, std::byte* base)
    : file_(std::move(file)),
      base_(base),
      page_bytes_(system_page_bytes()),
      traits_(traits_in_place(file_->traits())) {}

DaxFileMedium::~DaxFileMedium() { munmap(base_, file_->file().max_size_bytes()); }

Status DaxFileMedium::on_direct_read(Extent extent) {
  const PreallocatedFile& file = file_->file();
  if (Status status = check_range(file.path(), extent.offset, extent.size_bytes, size_bytes());
      !status.ok()) {
    return status;
  }
  const uint64_t begin = extent.offset / page_bytes_ * page_bytes_;
  const uint64_t length = extent.offset + extent.size_bytes - begin;
  // Pages that are not in memory are fetched at once, rather than a page fault at a time.
  if (length > page_bytes_) madvise(base_ + begin, length, MADV_WILLNEED);
  if (madvise(base_ + begin, length, MADV_POPULATE_READ) == 0) return ok_status();
  const int error = errno;
  if (Status status = file.check_length(); !status.ok()) return status;
  // An older kernel cannot ask for the pages; the length is what it can check.
  if (error == EINVAL) return ok_status();
  // EFAULT: touching a page would raise SIGBUS, as on a disk error.
  return errno_status("reading in place file", file.path(), error == EFAULT ? EIO : error);
}

}  // namespace nvcache
