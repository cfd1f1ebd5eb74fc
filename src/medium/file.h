// A file as a medium, on NVMe, persistent memory (DAX) or any file system.
// How the file is made, locked, kept and removed: medium/preallocated_file.h.
//
// io=mmap (the default): on a DAX file system, mapped and read in place (medium/file_dax.h).
//   Elsewhere read and written through the descriptor and the page cache
//   (medium/file_buffered.h): a file that is truncated, or a disk that fails, gives an error
//   and not a deadly SIGBUS, and reading in place would be no cheaper. Costs where the pages are
//   in memory, 16 KiB: the check of a mapping 1.7 us, read() 1.6 us, a plain memcpy 0.6 us.
// io=direct: O_DIRECT reads and writes past the page cache, for NVMe. Offsets,
//   sizes and buffers are multiples of io_granularity_bytes (what the file system
//   says, else 4096); the sizes given at open are rounded down to it.
//   FAILED_PRECONDITION where the file system has no O_DIRECT.
//
// Thread-safe on disjoint extents. resize() must not run beside itself.
#pragma once

#include <memory>
#include <string>

#include "medium/medium.h"
#include "nvcache/status_or.h"

namespace nvcache {

enum class FileIo { kMmap, kDirect };

[[nodiscard]] StatusOr<std::unique_ptr<Medium>> open_file_medium(const std::string& path, FileIo io,
                                                                 const MediumOptions& options);

}  // namespace nvcache
