#include "adapters/wiredtiger/posix_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/descriptors.h"

namespace nvcache {
namespace {

constexpr size_t kMaxTransferBytes = size_t{1} << 30;  // Linux moves at most 2 GiB at once
constexpr mode_t kFileMode = 0666;

PosixStat to_stat(const struct stat& from) {
  return {.device = from.st_dev,
          .inode = from.st_ino,
          .size_bytes = static_cast<uint64_t>(from.st_size),
          .modified_ns = from.st_mtim.tv_sec * int64_t{1'000'000'000} + from.st_mtim.tv_nsec};
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace

int PosixFile::open(const std::string& path, int open_flags) {
  const auto try_open = [&](int flags) {
    return retried([&] {
      descriptor_ = open_file(path.c_str(), flags, kFileMode);
      return descriptor_;
    });
  };
  const int error = try_open(open_flags);
  // Only a file's owner may ask for O_NOATIME.
  if (error == EPERM && (open_flags & O_NOATIME) != 0) return try_open(open_flags & ~O_NOATIME);
  return error;
}

int PosixFile::close() {
  if (descriptor_ == -1) return 0;
  const int result = ::close(descriptor_);
  descriptor_ = -1;
  // The descriptor is gone even if close was interrupted.
  return result == -1 && errno != EINTR ? errno : 0;
}

int PosixFile::read(uint64_t offset, MutableBytes into, size_t* done) const {
  for (*done = 0; *done < into.size();) {
    ssize_t moved = 0;
    const int error = retried([&] {
      moved = ::pread(descriptor_, into.data() + *done,
                      std::min(into.size() - *done, kMaxTransferBytes),
                      static_cast<off_t>(offset + *done));
      return moved;
    });
    if (error != 0) return error;
    if (moved == 0) return kShortRead;
    *done += static_cast<size_t>(moved);
  }
  return 0;
}

int PosixFile::write(uint64_t offset, ByteView from, size_t* done) const {
  for (*done = 0; *done < from.size();) {
    ssize_t moved = 0;
    const int error = uninterrupted([&] {
      moved = ::pwrite(descriptor_, from.data() + *done,
                       std::min(from.size() - *done, kMaxTransferBytes),
                       static_cast<off_t>(offset + *done));
      return moved;
    });
    if (error != 0) return error;
    if (moved == 0) return EIO;
    *done += static_cast<size_t>(moved);
  }
  return 0;
}

int PosixFile::sync() {
  if (const int error = sync_error_.get(); error != 0) return error;
  return sync_error_.note(uninterrupted([&] { return ::fdatasync(descriptor_); }));
}

int PosixFile::start_sync() const {
  return uninterrupted([&] { return ::sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE); });
}

int PosixFile::truncate(uint64_t size_bytes) const {
  return retried([&] { return ::ftruncate(descriptor_, static_cast<off_t>(size_bytes)); });
}

int PosixFile::allocate_to(uint64_t size_bytes) const {
  const int error =
      retried([&] { return ::fallocate(descriptor_, 0, 0, static_cast<off_t>(size_bytes)); });
  // Growing by truncate instead could cut what another thread has just written.
  return error == EOPNOTSUPP || error == ENOSYS ? ENOTSUP : error;
}

int PosixFile::stat(PosixStat* out) const {
  struct stat found = {};
  const int error = retried([&] { return ::fstat(descriptor_, &found); });
  *out = to_stat(found);
  return error;
}

int PosixFile::lock(bool exclusive) const {
  struct flock wanted = {};
  wanted.l_type = exclusive ? F_WRLCK : F_UNLCK;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = 0;
  wanted.l_len = 1;
  return uninterrupted([&] { return ::fcntl(descriptor_, F_SETLK, &wanted); });
}

int PosixFile::advise(uint64_t offset, uint64_t size_bytes, int advice) const {
  return ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size_bytes),
                         advice);
}

int sync_folder_of(const std::string& path) {
  PosixFile folder;
  if (const int error = folder.open(folder_of(path), O_RDONLY | O_DIRECTORY); error != 0) {
    return error;
  }
  if (const int error = folder.sync(); error != 0) return error;
  return folder.close();
}

int list_folder(const std::string& path, const std::string& prefix, size_t limit,
                std::vector<std::string>* names) {
  DIR* opened = nullptr;
  const int error = retried([&] {
    opened = open_folder(path.c_str());
    return opened == nullptr ? -1 : 0;
  });
  if (error != 0) return error;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opened, ::closedir);
  while (names->size() < limit) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());  // thread-safe: the stream is ours alone
    if (entry == nullptr) return errno;
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && name.starts_with(prefix)) names->push_back(name);
  }
  return 0;
}

int stat_path(const std::string& path, PosixStat* out) {
  struct stat found = {};
  const int error = retried([&] { return ::stat(path.c_str(), &found); });
  *out = to_stat(found);
  return error;
}

}  // namespace nvcache
