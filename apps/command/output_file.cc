#include "apps/command/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/descriptors.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

Status failed(const char* what, const std::string& path, int error) {
  return internal_error(fmt::format("cannot {} {}: {}", what, path, std::strerror(error)));
}

Status write_all(int fd, const std::string& path, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("write", path, errno);
    contents.remove_prefix(static_cast<size_t>(written));
  }
  // mkstemp makes files private; give this one the usual permissions.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(fd, 0666 & ~mask) != 0) return failed("set the mode of", path, errno);
  if (::fsync(fd) != 0) return failed("write", path, errno);
  return ok_status();
}

}  // namespace

Status write_file_whole(const std::string& path, std::string_view contents) {
  std::string temporary = path + ".XXXXXX";
  const int fd = make_temporary_file(temporary.data());
  if (fd < 0) return failed("create", path, errno);
  Status status = write_all(fd, path, contents);
  if (::close(fd) != 0 && status.ok()) status = failed("write", path, errno);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = failed("create", path, errno);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

Status check_writable(std::string_view option, const std::string& path) {
  if (path.empty()) return ok_status();
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return invalid_argument_error(fmt::format("{} {}: is a directory", option, path));
  }
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!std::filesystem::is_directory(folder, error)) {
    return invalid_argument_error(
        fmt::format("{} {}: the folder {} does not exist", option, path, folder.string()));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return invalid_argument_error(fmt::format("{} {}: the folder {} cannot be written: {}", option,
                                              path, folder.string(), std::strerror(errno)));
  }
  return ok_status();
}

}  // namespace nvcache
