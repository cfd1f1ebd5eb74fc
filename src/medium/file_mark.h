// Whose file it is: a cache's, which may be overwritten, or another program's.
//
// A file that a cache took ends with a page that says so, behind all blocks. It is there before the
// first block is written, so that a file that a crash left behind is known by it.
//
// Stateless. The file must be locked.
#pragma once

#include <cstdint>
#include <string_view>

#include "nvcache/status.h"

namespace nvcache {

inline constexpr uint64_t kFileMarkBytes = 4096;
// How a superblock of a cache in regions begins: its file is ours even if it was cut short.
inline constexpr std::string_view kRegionsHead = "NVCREGS\n";

// Whether a cache may overwrite a file of this length: it ends with our mark, begins with
// kRegionsHead, is empty, or has zeros only in its first and its last MiB.
// FAILED_PRECONDITION, with what is allowed, if not.
[[nodiscard]] Status check_is_ours(int fd, std::string_view path, uint64_t length_bytes);

// Writes the mark into the last page of a file of this length, which is a multiple of a page.
[[nodiscard]] Status mark_as_ours(int fd, std::string_view path, uint64_t length_bytes);

// How long a file is that is to have room for `blocks_bytes` and the mark.
constexpr uint64_t marked_length_bytes(uint64_t blocks_bytes) {
  return (blocks_bytes + kFileMarkBytes - 1) / kFileMarkBytes * kFileMarkBytes + kFileMarkBytes;
}

}  // namespace nvcache
