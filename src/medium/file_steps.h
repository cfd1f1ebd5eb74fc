// Steps that media on files have in common. Thread-safe.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "medium/medium.h"

namespace nvcache {

// Keeps other openers away, in this process and others, until the file is closed. `user` is whose
// file it is: "cache" or "store". FAILED_PRECONDITION, with the processes that have it open, if it
// is locked.
[[nodiscard]] absl::Status lock_file(int fd, std::string_view path, std::string_view user);

// Starts to write an extent back; it is durable after sync_file().
[[nodiscard]] absl::Status start_write_back(int fd, std::string_view path, Extent extent);
// Makes all bytes of the file durable.
[[nodiscard]] absl::Status sync_file(int fd, std::string_view path);

}  // namespace nvcache
