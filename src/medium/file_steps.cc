#include "medium/file_steps.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "base/errno_status.h"
#include "base/text.h"
#include "medium/check.h"
#include "medium/file_holders.h"

namespace nvcache {
namespace {

Status refuse_locked(std::string_view path, std::string_view user, const std::string& holders) {
  return failed_precondition_error(
      fmt::format("file {}: in use by another {}{}{}; allowed: one {} per file", path, user,
                  holders.empty() ? "" : ": ", holders, user));
}

}  // namespace

Status lock_file(int fd, std::string_view path, std::string_view user,
                 const std::function<void()>& pause) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  int attempts = kLockAttempts;
  for (int attempt = 1; fcntl(fd, F_OFD_SETLK, &whole) != 0; ++attempt) {
    if (errno != EAGAIN && errno != EACCES) return errno_status("locking file", path, errno);
    if (attempt % kLockAttemptsPerLook == 1) {
      const FileHolders holders = holders_of_file(fd);
      const bool one_ends = !holders.names.empty() && holders.all_end;
      if (is_open_twice(fd) || (!holders.names.empty() && !one_ends) ||
          (one_ends && attempt >= kLockAttemptsWhileOneEnds)) {
        return refuse_locked(path, user, holders.names);
      }
      if (one_ends) attempts = attempt + kLockAttempts;
    }
    if (attempt >= attempts) return refuse_locked(path, user, "");
    pause();
  }
  return ok_status();
}

void unlock_file(int fd) {
  struct flock whole {};
  whole.l_type = F_UNLCK;
  whole.l_whence = SEEK_SET;
  (void)fcntl(fd, F_OFD_SETLK, &whole);
}

Status lock_file(int fd, std::string_view path, std::string_view user) {
  return lock_file(fd, path, user, [] { std::this_thread::sleep_for(kLockPause); });
}

Status start_write_back(int fd, std::string_view path, Extent extent) {
  if (sync_file_range(fd, static_cast<off_t>(extent.offset), static_cast<off_t>(extent.size_bytes),
                      SYNC_FILE_RANGE_WRITE) == 0 ||
      errno == ESPIPE || errno == ENOSYS) {
    return ok_status();
  }
  return errno_status("flushing file", path, errno);
}

Status sync_file(int fd, std::string_view path) {
  if (fdatasync(fd) == 0) return ok_status();
  return errno_status("flushing file", path, errno);
}

}  // namespace nvcache
