// The file or block device of a medium, opened only to be read: for tools that look at what a cache
// left, or at what one holds that is open. Takes no lock, reserves nothing and never writes, so it
// hinders no cache. Reads go through the page cache: any offset and size.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "nvcache/bytes.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache {

class ReadOnlyMedium {
 public:
  // `name`: a medium, such as file:PATH,io=direct or nvme:DEVICE, or a path alone. A directory
  // means the cache's file in it. INVALID_ARGUMENT if the medium is memory, or the path is neither
  // a file nor a block device; else the system's error, with the path.
  [[nodiscard]] static StatusOr<std::unique_ptr<ReadOnlyMedium>> open(std::string_view name);
  ~ReadOnlyMedium();
  ReadOnlyMedium(const ReadOnlyMedium&) = delete;
  ReadOnlyMedium& operator=(const ReadOnlyMedium&) = delete;

  const std::string& path() const { return path_; }
  // As a cache sees it: of a device without the first MiB, which holds nvcache's mark. A file that
  // begins with the mark is the copy of a device.
  uint64_t size_bytes() const { return size_bytes_; }
  bool is_device() const { return start_ != 0; }

  // Who has it open: "process 12 (nvcached)", "another process" if its lock alone is seen; empty if
  // nothing is seen. Of a device, which the kernel locks, only processes that this one may look
  // at. Looks at all of /proc.
  std::string users() const;

  // DATA_LOSS if it ends before; errors of the system with the path.
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) const;

 private:
  ReadOnlyMedium(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  [[nodiscard]] Status examine();
  bool is_locked() const;

  const int fd_;
  const std::string path_;
  uint64_t start_ = 0;  // of what a cache sees
  uint64_t size_bytes_ = 0;
};

}  // namespace nvcache
