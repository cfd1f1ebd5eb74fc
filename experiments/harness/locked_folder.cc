#include "experiments/harness/locked_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "fmt/format.h"

namespace nvcache {
namespace fs = std::filesystem;

StatusOr<LockedFolder> LockedFolder::take(const std::string& path, const std::string& name) {
  LockedFolder folder;
  if (path.empty()) {
    const char* temporary = std::getenv("TMPDIR");
    folder.path_ = fmt::format(
        "{}/{}-XXXXXX", temporary == nullptr || *temporary == 0 ? "/var/tmp" : temporary, name);
    if (::mkdtemp(folder.path_.data()) == nullptr) {
      return failed_precondition_error(
          fmt::format("cannot make a folder {}: {}", folder.path_, std::strerror(errno)));
    }
    folder.made_ = true;
  } else {
    std::error_code error;
    folder.path_ = fs::absolute(path).string();
    folder.made_ = fs::create_directories(folder.path_, error);
    if (error) {
      return failed_precondition_error(
          fmt::format("--db {}: cannot make the folder: {}", path, error.message()));
    }
  }
  folder.descriptor_ = ::open(folder.path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder.descriptor_ < 0 || ::flock(folder.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const std::string cause =
        errno == EWOULDBLOCK ? "another run is using it" : std::strerror(errno);
    return failed_precondition_error(fmt::format("--db {}: {}", path, cause));
  }
  return folder;
}

LockedFolder& LockedFolder::operator=(LockedFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(made_, other.made_);
  return *this;
}

LockedFolder::~LockedFolder() {
  std::error_code ignored;
  if (made_) fs::remove(path_, ignored);  // succeeds only if it is empty
  if (descriptor_ >= 0) ::close(descriptor_);
}

uint64_t folder_bytes(const std::string& folder) {
  uint64_t sum = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) sum += entry.file_size(error);
  }
  return sum;
}

}  // namespace nvcache
