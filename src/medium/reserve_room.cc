#include "medium/reserve_room.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "fmt/format.h"
#include "medium/check.h"

namespace nvcache {

StatusOr<Room> reserve_room(int fd, std::string_view path, uint64_t size_bytes,
                            Fallocate fallocate) {
  const auto length = static_cast<off_t>(size_bytes);
  int result = 0;
  do {
    result = fallocate(fd, 0, 0, length);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return Room::kReserved;
  if (errno != EOPNOTSUPP && errno != ENOSYS) {
    return errno_status(fmt::format("allocating {} bytes for file", size_bytes), path, errno);
  }
  struct stat found {};
  if (fstat(fd, &found) != 0) return errno_status("examining file", path, errno);
  if (found.st_size < length && ftruncate(fd, length) != 0) {
    return errno_status(fmt::format("setting the length to {} bytes of file", size_bytes), path,
                        errno);
  }
  return Room::kSparse;
}

}  // namespace nvcache
