// Reads and writes of whole ranges of a descriptor: pread and pwrite, repeated until all bytes are
// moved, after signals too. Stateless, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nvcache/bytes.h"

namespace nvcache {

struct MovedBytes {
  size_t bytes = 0;  // that were moved before the end or the error
  int error = 0;     // an errno; 0 with fewer bytes than asked for: the end of the file
};

[[nodiscard]] MovedBytes read_whole(int fd, uint64_t offset, MutableBytes into);
// Never ends early without an error: ENOSPC where nothing more fits.
[[nodiscard]] MovedBytes write_whole(int fd, uint64_t offset, ByteView from);

}  // namespace nvcache
