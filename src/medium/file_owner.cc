#include "medium/file_owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/errno_status.h"
#include "base/test_hooks.h"
#include "base/text.h"
#include "medium/check.h"

namespace nvcache {

Status refuse_link(std::string_view path) {
  return invalid_argument("file {}: a symbolic link; allowed: the file itself", path);
}

Status check_owner(int fd, std::string_view path) {
  struct stat found {};
  if (fstat(fd, &found) != 0) return errno_status("examining file", path, errno);
  if (!S_ISREG(found.st_mode)) return invalid_argument("file {}: not a regular file", path);
  if (test_hooks.believe_any_file) return ok_status();
  if (found.st_uid != geteuid()) {
    return failed_precondition_error(
        fmt::format("file {}: owned by user {}; allowed: a file of the user that opens it ({})",
                    path, found.st_uid, geteuid()));
  }
  if ((found.st_mode & S_IWOTH) != 0 && found.st_size > 0) {
    return failed_precondition_error(
        fmt::format("file {}: mode {:o} lets every user write what is believed; allowed: 600. "
                    "Remove it, or, if "
                    "none did: chmod 600",
                    path, found.st_mode & 0777));
  }
  return ok_status();
}

StatusOr<std::string> keep_others_out(int fd, std::string_view path) {
  struct stat found {};
  if (fstat(fd, &found) != 0) return errno_status("examining file", path, errno);
  const uint32_t mode = found.st_mode & 0777;
  if ((mode & 077) == 0 || test_hooks.believe_any_file) return "";
  if (fchmod(fd, mode & 0700) != 0) {
    return failed_precondition_error(
        fmt::format("file {}: mode {:o} lets other users in, and cannot be changed: {}; allowed: "
                    "600 (chmod 600)",
                    path, mode, std::strerror(errno)));
  }
  return fmt::format("file {}: mode {:o} let other users in; it is {:o} now", path, mode,
                     mode & 0700);
}

}  // namespace nvcache
