#include "medium/preallocated_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/assert.h"
#include "base/cache_files.h"
#include "base/descriptors.h"
#include "base/errno_status.h"
#include "base/text.h"
#include "medium/check.h"
#include "medium/file_mark.h"
#include "medium/file_owner.h"
#include "medium/file_steps.h"
#include "medium/reserve_room.h"
#include "medium/whole_io.h"

namespace nvcache {
namespace {

constexpr const char* kFileName = "nvcache.blocks";
constexpr int kFileOpenAttempts = 8;

struct Opened {
  int fd = -1;
  bool created = false;
};

StatusOr<Opened> open_or_create(const std::string& path, int open_flags) {
  const int flags = O_RDWR | O_NONBLOCK | open_flags;
  bool created = true;
  int fd = open_file(path.c_str(), flags | O_CREAT | O_EXCL, 0600);
  if (fd < 0 && errno == EEXIST) {
    created = false;
    fd = open_file(path.c_str(), flags);
  }
  if (fd >= 0) return Opened{fd, created};
  if (errno == ELOOP && (open_flags & O_NOFOLLOW) != 0) return refuse_link(path);
  if (errno == EINVAL && (open_flags & O_DIRECT) != 0) {
    // Linux creates the file before it finds that it cannot open it this way.
    if (created) unlink(path.c_str());
    return failed_precondition_error(
        fmt::format("file {}: its file system has no O_DIRECT; allowed there: io=mmap", path));
  }
  return errno_status("opening file", path, errno);
}

}  // namespace

std::string PreallocatedFile::file_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return path;
  return fmt::format("{}{}{}", path, path.ends_with('/') ? "" : "/", kFileName);
}

StatusOr<std::unique_ptr<PreallocatedFile>> PreallocatedFile::open(const std::string& path,
                                                                   const MediumOptions& options,
                                                                   int open_flags) {
  const std::string file = file_of(path);
  for (int attempt = 0; attempt < kFileOpenAttempts; ++attempt) {
    const auto opened = open_or_create(file, open_flags | (options.keep_file ? O_NOFOLLOW : 0));
    if (!opened.ok()) {
      // Removed between our two attempts, by the opener that had made it.
      if (is_not_found(opened.status()) && attempt == 0) continue;
      return opened.status();
    }
    std::unique_ptr<PreallocatedFile> made(new PreallocatedFile(opened->fd, file, opened->created));
    if (Status status = made->lock(); !status.ok()) return status;
    // Removed between open and lock: what we hold is nobody's file any more.
    if (!made->still_at_path()) continue;
    if (Status status = made->prepare(options); !status.ok()) return status;
    return made;
  }
  return unavailable_error(fmt::format("file {}: removed by others while opening", file));
}

Status PreallocatedFile::prepare(const MediumOptions& options) {
  struct stat found {};
  if (fstat(fd_, &found) != 0) return errno_status("examining file", path_, errno);
  if (!S_ISREG(found.st_mode)) {
    return invalid_argument_error(
        fmt::format("file {}: not a regular file; allowed: a file or a directory", path_));
  }
  if (options.keep_file) {
    if (Status status = check_owner(fd_, path_); !status.ok()) return status;
  }
  max_size_bytes_ = options.max_size_bytes;
  const auto found_bytes = static_cast<uint64_t>(found.st_size);
  if (Status status = check_is_ours(fd_, path_, found_bytes); !status.ok()) return status;
  if (options.keep_file) {
    if (Status status = keep_others_out(fd_, path_).status(); !status.ok()) return status;
  }
  uint64_t length_bytes = marked_length_bytes(options.max_size_bytes);
  // The mark stays where it is in a longer file.
  if (found_bytes > length_bytes) length_bytes = marked_length_bytes(found_bytes - kFileMarkBytes);
  NVCACHE_ASSERT(locked_ && length_bytes >= found_bytes);
  if (Status status = check_room(fd_, path_, options.size_bytes, length_bytes); !status.ok()) {
    return status;
  }
  if (ftruncate(fd_, static_cast<off_t>(length_bytes)) != 0) {
    return errno_status(fmt::format("setting the length to {} bytes of file", length_bytes), path_,
                        errno);
  }
  Status status = allocate(options.size_bytes);
  if (status.ok()) status = mark_as_ours(fd_, path_, length_bytes);
  if (!status.ok() && !created_ && ftruncate(fd_, found.st_size) != 0) {
    return unavailable_error(
        fmt::format("{} (and its old length could not be restored)", status.message()));
  }
  // Blocks are read at random: reading ahead would fetch what nobody asked for.
  posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM);
  keep_ = status.ok() && options.keep_file;
  return status;
}

PreallocatedFile::~PreallocatedFile() {
  if (locked_ && home_.is_here()) {
    forget_cache_file(fd_);
    if (created_ && !keep_ && still_at_path()) unlink(path_.c_str());
    unlock_file(fd_);
  }
  close_kept(fd_);
}

Status PreallocatedFile::lock() {
  NVCACHE_ASSERT(!locked_);
  if (Status status = lock_file(fd_, path_, "cache"); !status.ok()) return status;
  locked_ = true;
  keep_from_children(fd_);
  note_cache_file(fd_);
  return ok_status();
}

bool PreallocatedFile::still_at_path() const {
  struct stat ours {};
  struct stat found {};
  return fstat(fd_, &ours) == 0 && stat(path_.c_str(), &found) == 0 &&
         ours.st_ino == found.st_ino && ours.st_dev == found.st_dev;
}

Status PreallocatedFile::read(uint64_t offset, MutableBytes into) const {
  NVCACHE_ASSERT_SLOW(offset + into.size() <= max_size_bytes_);
  const MovedBytes moved = read_whole(fd_, offset, into);
  if (moved.error != 0) return errno_status("reading file", path_, moved.error);
  if (moved.bytes == into.size()) return ok_status();
  return unavailable_error(fmt::format(
      "file {}: was cut short to {} bytes or less by somebody else", path_, offset + moved.bytes));
}

Status PreallocatedFile::write(uint64_t offset, ByteView from) const {
  NVCACHE_ASSERT_SLOW(offset + from.size() <= max_size_bytes_);
  if (Status status = check_length(); !status.ok()) return status;
  const MovedBytes moved = write_whole(fd_, offset, from);
  if (moved.error != 0) return errno_status("writing file", path_, moved.error);
  return ok_status();
}

Status PreallocatedFile::check_length() const {
  struct stat found {};
  if (fstat(fd_, &found) != 0) return errno_status("examining file", path_, errno);
  const auto length = static_cast<uint64_t>(found.st_size);
  if (length >= max_size_bytes_) return ok_status();
  return unavailable_error(
      fmt::format("file {}: was cut short from {} to {} bytes by somebody else", path_,
                  max_size_bytes_, length));
}

Status PreallocatedFile::allocate(uint64_t size_bytes) {
  if (Status status = check_room(fd_, path_, size_bytes, size_bytes); !status.ok()) return status;
  return reserve_room(fd_, path_, size_bytes).status();
}

Status PreallocatedFile::free_tail(uint64_t size_bytes, uint64_t old_size_bytes) {
  NVCACHE_ASSERT(old_size_bytes <= max_size_bytes_);
  if (size_bytes >= old_size_bytes) return ok_status();
  // The kernel frees the whole pages within and clears the rest.
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_bytes),
                static_cast<off_t>(old_size_bytes - size_bytes)) == 0) {
    return ok_status();
  }
  // A file system that cannot keeps the space: less to give back, nothing lost.
  if (errno == EOPNOTSUPP) return ok_status();
  return errno_status("freeing the tail of file", path_, errno);
}

Status PreallocatedFile::free_extent(Extent extent) {
  NVCACHE_ASSERT(extent.offset + extent.size_bytes <= max_size_bytes_);
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(extent.offset),
                static_cast<off_t>(extent.size_bytes)) == 0) {
    return ok_status();
  }
  if (errno == EOPNOTSUPP) {
    return unimplemented_error(
        fmt::format("file {}: its file system cannot free a part of a file", path_));
  }
  return errno_status("freeing a part of file", path_, errno);
}

}  // namespace nvcache
