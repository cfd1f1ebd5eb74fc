#include "medium/whole_io.h"

#include <unistd.h>

#include <cerrno>

namespace nvcache {

MovedBytes read_whole(int fd, uint64_t offset, MutableBytes into) {
  MovedBytes moved;
  while (moved.bytes < into.size()) {
    const ssize_t got = pread(fd, into.data() + moved.bytes, into.size() - moved.bytes,
                              static_cast<off_t>(offset + moved.bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) moved.error = errno;
    if (got <= 0) break;
    moved.bytes += static_cast<size_t>(got);
  }
  return moved;
}

MovedBytes write_whole(int fd, uint64_t offset, ByteView from) {
  MovedBytes moved;
  while (moved.bytes < from.size()) {
    const ssize_t put = pwrite(fd, from.data() + moved.bytes, from.size() - moved.bytes,
                               static_cast<off_t>(offset + moved.bytes));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      moved.error = put == 0 ? ENOSPC : errno;
      break;
    }
    moved.bytes += static_cast<size_t>(put);
  }
  return moved;
}

}  // namespace nvcache
