#include "experiments/harness/copy_folder.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "apps/command/interrupt.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = size_t{16} << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

// The bytes copied: fewer than asked at times, 0 at the end of `from`, -1 with errno.
ssize_t copy_piece(int from, int to, std::vector<char>& buffer) {
  if (buffer.empty()) {
    const ssize_t copied = ::copy_file_range(from, nullptr, to, nullptr, kPieceBytes, 0);
    if (copied >= 0 ||
        (errno != EXDEV && errno != ENOSYS && errno != EINVAL && errno != EOPNOTSUPP)) {
      return copied;
    }
    buffer.resize(kPieceBytes);  // by hand from now on
  }
  const ssize_t got = ::read(from, buffer.data(), buffer.size());
  for (ssize_t done = 0; done < got;) {
    const ssize_t put = ::write(to, buffer.data() + done, static_cast<size_t>(got - done));
    if (put < 0) return -1;
    done += put;
  }
  return got;
}

Status copy_one(const fs::path& from, const fs::path& to) {
  const auto failed = [&](const char* what) {
    const int error = errno;
    const std::string message = fmt::format("copying {} to {}: {}: {}", from.string(), to.string(),
                                            what, std::strerror(error));
    return error == ENOSPC ? resource_exhausted_error(message) : internal_error(message);
  };
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (source.get() < 0) return failed("open");
  const Descriptor copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (copy.get() < 0) return failed("create");
  if (::ioctl(copy.get(), FICLONE, source.get()) != 0) {
    std::vector<char> buffer;
    for (;;) {
      if (Status status = check_not_interrupted(); !status.ok()) return status;
      const ssize_t copied = copy_piece(source.get(), copy.get(), buffer);
      if (copied < 0) return failed("copy");
      if (copied == 0) break;
    }
  }
  // Direct reads would first have to write back what is in the page cache.
  if (::fdatasync(copy.get()) != 0) return failed("sync");
  ::posix_fadvise(copy.get(), 0, 0, POSIX_FADV_DONTNEED);
  ::posix_fadvise(source.get(), 0, 0, POSIX_FADV_DONTNEED);
  return ok_status();
}

}  // namespace

Status copy_folder(const std::string& from, const std::string& to, std::string_view linked) {
  std::error_code error;
  if (!fs::create_directory(to, error)) {
    return failed_precondition_error(
        fmt::format("cannot make {}: {}", to, error ? error.message() : "it is there already"));
  }
  for (const auto& entry : fs::directory_iterator(from, error)) {
    if (!entry.is_regular_file()) continue;
    const fs::path copy = fs::path(to) / entry.path().filename();
    if (!linked.empty() && copy.native().ends_with(linked)) {
      fs::create_hard_link(entry.path(), copy, error);
      if (error) break;
      continue;
    }
    if (Status status = copy_one(entry.path(), copy); !status.ok()) return status;
  }
  if (error) {
    return internal_error(fmt::format("copying {} to {}: {}", from, to, error.message()));
  }
  return ok_status();
}

}  // namespace nvcache
