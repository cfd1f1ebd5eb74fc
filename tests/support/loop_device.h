// A block device for tests: a file of a size as the kernel's loop device. Needs the right to attach
// one; where there is none, path() is empty and why() says what failed. Detached at the end.
#pragma once

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "support/temp_dir.h"

namespace nvcache::test {

class LoopDevice {
 public:
  explicit LoopDevice(uint64_t size_bytes) {
    if (!attach(size_bytes)) why_ += std::string(": ") + std::strerror(errno);
  }
  ~LoopDevice() {
    if (!path_.empty()) ioctl(device_, LOOP_CLR_FD, 0);
    for (const int fd : {device_, control_, file_}) {
      if (fd >= 0) close(fd);
    }
  }
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;

  const std::string& path() const { return path_; }
  const std::string& why() const { return why_; }
  // The file behind it.
  std::string file() const { return folder_.file("device"); }

 private:
  bool attach(uint64_t size_bytes) {
    why_ = "a file";
    file_ = ::open(folder_.file("device").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size_bytes)) != 0) return false;
    why_ = "/dev/loop-control";
    control_ = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control_ < 0) return false;
    for (int attempt = 0; attempt < 20; ++attempt) {  // other tests attach theirs at that time
      why_ = "a free loop device";
      const int number = ioctl(control_, LOOP_CTL_GET_FREE);
      if (number < 0) return false;
      why_ = "/dev/loop" + std::to_string(number);
      device_ = ::open(why_.c_str(), O_RDWR | O_CLOEXEC);
      if (device_ < 0) return false;
      if (ioctl(device_, LOOP_SET_FD, file_) == 0) {
        // Detached also if the test is killed.
        loop_info64 info = {};
        info.lo_flags = LO_FLAGS_AUTOCLEAR;
        (void)ioctl(device_, LOOP_SET_STATUS64, &info);
        path_ = why_;
        return true;
      }
      close(device_);
      device_ = -1;
    }
    return false;
  }

  TempDir folder_{TempDir::on_disk()};
  int file_ = -1;
  int control_ = -1;
  int device_ = -1;
  std::string path_;
  std::string why_;
};

}  // namespace nvcache::test
