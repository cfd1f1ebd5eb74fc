#include "medium/file_buffered.h"

#include <unistd.h>

#include <utility>

#include "base/assert.h"
#include "medium/check.h"
#include "medium/file_steps.h"

namespace nvcache {

StatusOr<std::unique_ptr<BufferedFileMedium>> BufferedFileMedium::open(
    const std::string& path, const MediumOptions& options) {
  auto file = PreallocatedFile::open(path, options, 0);
  if (!file.ok()) return file.status();
  return std::unique_ptr<BufferedFileMedium>(
      new BufferedFileMedium(*std::move(file), options.size_bytes));
}

BufferedFileMedium::BufferedFileMedium(std::unique_ptr<PreallocatedFile> file, uint64_t size_bytes)
    : file_(std::move(file)),
      size_bytes_(size_bytes),
      traits_{.name = "file",
              .persistent = true,
              .flush_granularity_bytes = static_cast<uint32_t>(sysconf(_SC_PAGESIZE))} {
  NVCACHE_ASSERT(size_bytes <= file_->max_size_bytes());
}

Status BufferedFileMedium::check(uint64_t offset, uint64_t length) const {
  return check_range(file_->path(), offset, length, size_bytes());
}

Status BufferedFileMedium::read(uint64_t offset, MutableBytes into) {
  if (Status status = check(offset, into.size()); !status.ok()) return status;
  return file_->read(offset, into);
}

Status BufferedFileMedium::write(uint64_t offset, ByteView from) {
  if (Status status = check(offset, from.size()); !status.ok()) return status;
  return file_->write(offset, from);
}

Status BufferedFileMedium::flush(Extent extent) {
  if (Status status = check(extent.offset, extent.size_bytes); !status.ok()) return status;
  return start_write_back(file_->fd(), file_->path(), extent);
}

Status BufferedFileMedium::drain() { return sync_file(file_->fd(), file_->path()); }

Status BufferedFileMedium::discard(Extent extent) {
  if (Status status = check(extent.offset, extent.size_bytes); !status.ok()) return status;
  return file_->free_extent(extent);
}

Status BufferedFileMedium::resize(uint64_t size_bytes) {
  if (Status status = check_resize(file_->path(), size_bytes, file_->max_size_bytes());
      !status.ok()) {
    return status;
  }
  const uint64_t old_size_bytes = this->size_bytes();
  if (size_bytes > old_size_bytes) {
    if (Status status = file_->allocate(size_bytes); !status.ok()) return status;
  }
  size_bytes_.store(size_bytes, std::memory_order_relaxed);
  return file_->free_tail(size_bytes, old_size_bytes);
}

}  // namespace nvcache
