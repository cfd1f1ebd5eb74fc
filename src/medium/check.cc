#include "medium/check.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/errno_status.h"
#include "base/text.h"

namespace nvcache {

Status check_range(std::string_view medium, uint64_t offset, uint64_t length, uint64_t size_bytes) {
  if (offset <= size_bytes && length <= size_bytes - offset) return ok_status();
  return out_of_range_error(fmt::format("{}: {} bytes at offset {} lie past the end at {}", medium,
                                        length, offset, size_bytes));
}

Status check_granularity(std::string_view medium, uint64_t offset, const void* buffer,
                         uint64_t length, uint32_t granularity_bytes) {
  const uint64_t bits = offset | length | reinterpret_cast<uintptr_t>(buffer);
  if (bits % granularity_bytes == 0) return ok_status();
  return invalid_argument("{}: offset {}, size {} and the buffer's address must be multiples of {}",
                          medium, offset, length, granularity_bytes);
}

Status check_resize(std::string_view medium, uint64_t size_bytes, uint64_t max_size_bytes) {
  if (size_bytes > 0 && size_bytes <= max_size_bytes) return ok_status();
  return out_of_range_error(
      fmt::format("{}: cannot resize to {} bytes; allowed: 1 to {} (the max_size given at open)",
                  medium, size_bytes, max_size_bytes));
}

Status errno_status(std::string_view operation, std::string_view path, int error_number) {
  const std::string message =
      fmt::format("{} {}: {}", operation, path, std::generic_category().message(error_number));
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
      return resource_exhausted_error(message);
    case EIO:
      return data_loss_error(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return permission_denied_error(message);
    case ENOENT:
    case ENOTDIR:
      return not_found_error(message);
    default:
      return unavailable_error(message);
  }
}

StatusOr<MediumOptions> complete_options(std::string_view medium, const MediumOptions& options) {
  MediumOptions complete = options;
  if (complete.size_bytes == 0) {
    return invalid_argument("{}: size is 0; allowed: at least 1 byte", medium);
  }
  if (complete.max_size_bytes == 0) complete.max_size_bytes = complete.size_bytes;
  if (complete.max_size_bytes < complete.size_bytes) {
    return invalid_argument(
        "{}: max_size {} is below size {}; allowed: size or more, or 0 for size", medium,
        complete.max_size_bytes, complete.size_bytes);
  }
  return complete;
}

Status check_room(int fd, std::string_view path, uint64_t size_bytes, uint64_t length_bytes) {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      length_bytes > limit.rlim_cur) {
    return resource_exhausted_error(
        fmt::format("file {}: {} bytes asked for, the process's file size limit (ulimit -f) is {}",
                    path, length_bytes, limit.rlim_cur));
  }
  struct stat found {};
  struct statvfs room {};
  if (fstat(fd, &found) != 0 || fstatvfs(fd, &room) != 0) {
    return errno_status("examining file", path, errno);
  }
  // st_blocks counts 512-byte units (stat(2)). A file system of 0 blocks has no limit.
  const uint64_t allocated = static_cast<uint64_t>(found.st_blocks) * 512;
  const uint64_t free_bytes = static_cast<uint64_t>(room.f_bavail) * room.f_frsize;
  if (room.f_blocks != 0 && size_bytes > allocated && size_bytes - allocated > free_bytes) {
    return resource_exhausted_error(fmt::format(
        "file {}: no space left on device: {} bytes asked for, {} there already, {} free", path,
        size_bytes, allocated, free_bytes));
  }
  return ok_status();
}

}  // namespace nvcache
