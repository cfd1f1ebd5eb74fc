// Room for a file on its disk, so that a later write does not find the disk full.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <string_view>

#include "base/errno_status.h"
#include "nvcache/status_or.h"

namespace nvcache {

enum class Room : uint8_t {
  kReserved,
  kSparse,  // the file system cannot reserve: blocks are taken as they are written
};

using Fallocate = int (*)(int fd, int mode, off_t offset, off_t length);

// Makes the file at least `size_bytes` long, with room for all of them. Where the file system
// cannot reserve (ext3, some network file systems), posix_fallocate() would read and write every
// block, at each call. Errors as errno_status(): a full disk is RESOURCE_EXHAUSTED. `fallocate`:
// for tests.
[[nodiscard]] StatusOr<Room> reserve_room(int fd, std::string_view path, uint64_t size_bytes,
                                          Fallocate fallocate = ::fallocate);

}  // namespace nvcache
