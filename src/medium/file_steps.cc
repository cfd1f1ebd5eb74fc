#include "medium/file_steps.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/text.h"
#include "medium/check.h"
#include "medium/file_holders.h"

namespace nvcache {

absl::Status lock_file(int fd, std::string_view path, std::string_view user) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(fd, F_OFD_SETLK, &whole) == 0) return absl::OkStatus();
  if (errno == EAGAIN || errno == EACCES) {
    const std::string holders = holders_of_file(fd);
    return absl::FailedPreconditionError(
        fmt::format("file {}: in use by another {}{}{}; allowed: one {} per file", path, user,
                    holders.empty() ? "" : ": ", holders, user));
  }
  return errno_status("locking file", path, errno);
}

absl::Status start_write_back(int fd, std::string_view path, Extent extent) {
  if (sync_file_range(fd, static_cast<off_t>(extent.offset), static_cast<off_t>(extent.size_bytes),
                      SYNC_FILE_RANGE_WRITE) == 0 ||
      errno == ESPIPE || errno == ENOSYS) {
    return absl::OkStatus();
  }
  return errno_status("flushing file", path, errno);
}

absl::Status sync_file(int fd, std::string_view path) {
  if (fdatasync(fd) == 0) return absl::OkStatus();
  return errno_status("flushing file", path, errno);
}

}  // namespace nvcache
