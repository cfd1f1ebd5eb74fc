#include "adapters/wiredtiger/file_handle.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "adapters/wiredtiger/block_header.h"
#include "adapters/wiredtiger/guarded.h"
#include "base/clock.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

int open_flags(WT_FS_OPEN_FILE_TYPE type, uint32_t flags) {
  if (type == WT_FS_OPEN_FILE_TYPE_DIRECTORY) return O_RDONLY;
  int out = (flags & WT_FS_OPEN_READONLY) != 0 ? O_RDONLY : O_RDWR;
  if ((flags & WT_FS_OPEN_CREATE) != 0) {
    out |= O_CREAT;
    if ((flags & WT_FS_OPEN_EXCLUSIVE) != 0) out |= O_EXCL;
  }
  if ((flags & WT_FS_OPEN_DIRECTIO) != 0) out |= O_DIRECT;
  if (type == WT_FS_OPEN_FILE_TYPE_DATA) out |= O_NOATIME;
  return out;
}

int access_advice(uint32_t flags) {
  if ((flags & WT_FS_OPEN_DIRECTIO) != 0) return POSIX_FADV_NORMAL;
  if ((flags & WT_FS_OPEN_ACCESS_RAND) != 0) return POSIX_FADV_RANDOM;
  if ((flags & WT_FS_OPEN_ACCESS_SEQ) != 0) return POSIX_FADV_SEQUENTIAL;
  return POSIX_FADV_NORMAL;
}

}  // namespace

FileHandle::FileHandle(const Home& home, std::string path)
    : WT_FILE_HANDLE{}, home_(home), path_(std::move(path)) {
  file_system = home.system;
  name = path_.data();
}

int FileHandle::open(const Home& home, WT_SESSION* session, const std::string& path,
                     WT_FS_OPEN_FILE_TYPE type, uint32_t flags, int more_flags,
                     WT_FILE_HANDLE** out) {
  return guarded([&] {
    std::unique_ptr<FileHandle> handle(new FileHandle(home, path));
    if (const int error = handle->file_.open(path, open_flags(type, flags) | more_flags);
        error != 0) {
      const bool direct = (flags & WT_FS_OPEN_DIRECTIO) != 0;
      return handle->failed(
          session, error,
          direct ? "handle-open: open with direct I/O (does the file system offer it?)"
                 : "handle-open: open");
    }
    if ((flags & WT_FS_OPEN_DURABLE) != 0) {
      const int error = sync_folder_of(path);
      if (error != 0) return handle->failed(session, error, "directory-sync");
    }
    if (const int advice = access_advice(flags);
        type == WT_FS_OPEN_FILE_TYPE_DATA && advice != POSIX_FADV_NORMAL) {
      const int error = handle->file_.advise(0, 0, advice);
      if (error != 0) return handle->failed(session, error, "handle-open: posix_fadvise");
    }
    if (type == WT_FS_OPEN_FILE_TYPE_DATA)
      handle->cached_ = home.files.open(path, handle->identity());
    handle->set_methods();
    *out = handle.release();
    return 0;
  });
}

int FileHandle::close_file(WT_SESSION* session) {
  if (cached_ != nullptr) home_.files.close(path_, *cached_, identity());
  const int error = file_.close();
  return error == 0 ? 0 : failed(session, error, "handle-close: close");
}

int FileHandle::read(WT_SESSION* session, uint64_t offset, MutableBytes into) {
  ReadTicket ticket;
  bool served = false;
  if (cached_ != nullptr) harmless([&] { served = cached_->read(offset, into, &ticket); });
  if (served) return 0;
  size_t done = 0;
  const uint64_t begin_ns = system_clock().now_ns();
  if (const int error = file_.read(offset, into, &done); error != 0) {
    return failed(session, error == PosixFile::kShortRead ? WT_ERROR : error,
                  fmt::format("handle-read: pread: failed to read {} bytes at offset {}",
                              into.size() - done, offset + done));
  }
  if (cached_ == nullptr) return 0;
  const bool whole = is_whole_block(into);
  cached_->count_disk_read(into.size(), whole, system_clock().now_ns() - begin_ns);
  if (whole) harmless([&] { cached_->offer(offset, into, ticket); });
  return 0;
}

// Invalidation must never be skipped. If it fails, with ENOMEM, nothing is written.
int FileHandle::write(WT_SESSION* session, uint64_t offset, ByteView from) {
  const FileRange range{offset, from.size()};
  const bool was_cached = cached_ != nullptr && cached_->begin_write(range);
  size_t done = 0;
  const int error = file_.write(offset, from, &done);
  if (cached_ != nullptr) {
    const bool offered = error == 0 && is_whole_block(from);
    cached_->end_write(range, offered ? from : ByteView(), was_cached);
  }
  if (error == 0) return 0;
  return failed(session, error,
                fmt::format("handle-write: pwrite: failed to write {} bytes at offset {}",
                            from.size() - done, offset + done));
}

int FileHandle::truncate(WT_SESSION* session, uint64_t size_bytes) {
  if (cached_ != nullptr) cached_->begin_truncate(size_bytes);
  const int error = file_.truncate(size_bytes);
  if (cached_ != nullptr) cached_->end_truncate(size_bytes);
  if (error == 0) return 0;
  return failed(session, error, "handle-truncate: ftruncate");
}

int FileHandle::extend(WT_SESSION* session, uint64_t size_bytes) {
  const int error = file_.allocate_to(size_bytes);
  if (error == 0 && cached_ != nullptr) cached_->grow_to(size_bytes);
  if (error == 0 || error == ENOTSUP) return error;
  return failed(session, error, fmt::format("handle-extend: fallocate to {} bytes", size_bytes));
}

int FileHandle::failed(WT_SESSION* session, int error, const std::string& what) const {
  return home_.report.error(session, error, fmt::format("{}: {}", path_, what));
}

FileIdentity FileHandle::identity() const {
  PosixStat now;
  if (file_.stat(&now) != 0) return {};
  return {.device = now.device,
          .inode = now.inode,
          .size_bytes = now.size_bytes,
          .modified_ns = now.modified_ns};
}

// The functions that WiredTiger calls, for folders too. fh_map stays empty: reads through a mapping
// would bypass the cache.
void FileHandle::set_methods() {
  close = [](WT_FILE_HANDLE* handle, WT_SESSION* session) {
    const std::unique_ptr<FileHandle> self(static_cast<FileHandle*>(handle));
    return guarded([&] { return self->close_file(session); });
  };
  fh_sync = [](WT_FILE_HANDLE* handle, WT_SESSION* session) {
    auto* self = static_cast<FileHandle*>(handle);
    return guarded([&] {
      const int error = self->file_.sync();
      return error == 0 ? 0 : self->failed(session, error, "handle-sync: fdatasync");
    });
  };
  fh_size = [](WT_FILE_HANDLE* handle, WT_SESSION* session, wt_off_t* size) {
    auto* self = static_cast<FileHandle*>(handle);
    return guarded([&] {
      PosixStat now;
      const int error = self->file_.stat(&now);
      *size = static_cast<wt_off_t>(now.size_bytes);
      return error == 0 ? 0 : self->failed(session, error, "handle-size: fstat");
    });
  };
  fh_lock = [](WT_FILE_HANDLE* handle, WT_SESSION* session, bool lock) {
    auto* self = static_cast<FileHandle*>(handle);
    return guarded([&] {
      const int error = self->file_.lock(lock);
      return error == 0 ? 0 : self->failed(session, error, "handle-lock: fcntl");
    });
  };
  fh_advise = [](WT_FILE_HANDLE* handle, WT_SESSION*, wt_off_t offset, wt_off_t size, int advice) {
    auto* self = static_cast<FileHandle*>(handle);
    const int error = self->file_.advise(
        static_cast<uint64_t>(offset), static_cast<uint64_t>(size),
        advice == WT_FILE_HANDLE_WILLNEED ? POSIX_FADV_WILLNEED : POSIX_FADV_DONTNEED);
    return error == EINVAL ? ENOTSUP : error;  // a file system that takes no advice
  };
  fh_read = [](WT_FILE_HANDLE* handle, WT_SESSION* session, wt_off_t offset, size_t size,
               void* into) {
    auto* self = static_cast<FileHandle*>(handle);
    return guarded([&] {
      return self->read(session, static_cast<uint64_t>(offset),
                        {static_cast<std::byte*>(into), size});
    });
  };
  fh_write = [](WT_FILE_HANDLE* handle, WT_SESSION* session, wt_off_t offset, size_t size,
                const void* from) {
    auto* self = static_cast<FileHandle*>(handle);
    return guarded([&] {
      return self->write(session, static_cast<uint64_t>(offset),
                         {static_cast<const std::byte*>(from), size});
    });
  };
  fh_sync_nowait = [](WT_FILE_HANDLE* handle, WT_SESSION* session) {
    auto* self = static_cast<FileHandle*>(handle);
    return guarded([&] {
      const int error = self->file_.start_sync();
      return error == 0 ? 0 : self->failed(session, error, "handle-sync: sync_file_range");
    });
  };
  fh_truncate = [](WT_FILE_HANDLE* handle, WT_SESSION* session, wt_off_t size) {
    auto* self = static_cast<FileHandle*>(handle);
    return guarded([&] { return self->truncate(session, static_cast<uint64_t>(size)); });
  };
  fh_extend_nolock = [](WT_FILE_HANDLE* handle, WT_SESSION* session, wt_off_t size) {
    auto* self = static_cast<FileHandle*>(handle);
    return guarded([&] { return self->extend(session, static_cast<uint64_t>(size)); });
  };
}

}  // namespace nvcache
