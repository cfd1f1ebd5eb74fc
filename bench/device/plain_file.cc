#include "device/plain_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/clock.h"
#include "base/errno_status.h"
#include "device/measure.h"
#include "fmt/format.h"

namespace nvcache::bench {
namespace {

Status failed(const char* what, const std::string& path) {
  return errno_status(errno, fmt::format("{} {}", what, path));
}

}  // namespace

PlainFile::PlainFile(std::string path, uint64_t size_bytes, int fd)
    : path_(std::move(path)),
      size_bytes_(size_bytes / kPieceBytes * kPieceBytes),
      fd_(fd),
      memory_(static_cast<std::byte*>(std::aligned_alloc(kBlockBytes, kPieceBytes))) {
  if (memory_ == nullptr) throw std::bad_alloc();
  std::memset(memory_.get(), 7, kPieceBytes);
}

PlainFile::~PlainFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(path_.c_str());
}

StatusOr<PlainFile> PlainFile::make(const std::string& path, uint64_t size_bytes) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
  if (fd < 0) return failed("opening", path);
  PlainFile file(path, size_bytes, fd);
  if (const auto seconds = file.write_seconds(); !seconds.ok()) return seconds.status();
  return file;
}

StatusOr<double> PlainFile::write_seconds() {
  const uint64_t start_ns = system_clock().now_ns();
  for (uint64_t at = 0; at < size_bytes_; at += kPieceBytes) {
    if (::pwrite(fd_, memory_.get(), kPieceBytes, static_cast<off_t>(at)) !=
        static_cast<ssize_t>(kPieceBytes)) {
      return failed("writing", path_);
    }
  }
  if (::fdatasync(fd_) != 0) return failed("syncing", path_);
  return static_cast<double>(system_clock().now_ns() - start_ns) / 1e9;
}

Status PlainFile::read(uint64_t block) {
  if (::pread(fd_, memory_.get(), kBlockBytes, static_cast<off_t>(block * kBlockBytes)) !=
      static_cast<ssize_t>(kBlockBytes)) {
    return failed("reading", path_);
  }
  return ok_status();
}

Status sync_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed("opening", path);
  const Status status = ::fdatasync(fd) == 0 ? ok_status() : failed("syncing", path);
  ::close(fd);
  return status;
}

uint64_t PlainFile::blocks() const { return size_bytes_ / kBlockBytes; }

}  // namespace nvcache::bench
