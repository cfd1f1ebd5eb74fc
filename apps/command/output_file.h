// Files that are there whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace nvcache {

// Writes a temporary file beside `path` and renames it: a reader sees the old
// contents or the new. Errors name the path and the cause.
[[nodiscard]] absl::Status write_file_whole(const std::string& path, std::string_view contents);

// INVALID_ARGUMENT if a file could not be created at `path`: asked before a long
// run, not after it. An empty path is fine: nothing will be written.
[[nodiscard]] absl::Status check_writable(std::string_view option, const std::string& path);

}  // namespace nvcache
