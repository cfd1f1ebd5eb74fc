// A file as a medium, on NVMe, persistent memory (DAX) or any file system.
// How the file is made, locked, kept and removed: medium/preallocated_file.h.
//
// io=mmap (the default): byte-addressable; direct() is a shared mapping, through
//   the page cache except on DAX. read() and write() go through the descriptor, so
//   a file that somebody truncates, or a disk that fails, gives an error and not a
//   deadly SIGBUS. In-place readers must call on_direct_read() first: it makes the
//   kernel fault the pages in and report what it cannot read. A window remains: a
//   file cut short between that call and the end of the read, or a clean page that
//   is reclaimed and cannot be read again, kills the process as any mapping would.
//   Costs where the pages are in memory, 16 KiB: the check 1.7 us, read() 1.6 us, a
//   plain memcpy 0.6 us: unless on DAX, reading in place is no cheaper than read(), so
//   Traits::may_fault sends readers there.
// io=direct: O_DIRECT reads and writes past the page cache, for NVMe. Offsets,
//   sizes and buffers are multiples of io_granularity_bytes (what the file system
//   says, else 4096); the sizes given at open are rounded down to it.
//   FAILED_PRECONDITION where the file system has no O_DIRECT.
//
// Thread-safe on disjoint extents. resize() must not run beside itself.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "medium/medium.h"

namespace nvcache {

enum class FileIo { kMmap, kDirect };

[[nodiscard]] absl::StatusOr<std::unique_ptr<Medium>> open_file_medium(
    const std::string& path, FileIo io, const MediumOptions& options);

}  // namespace nvcache
