// Writes files so that a reader sees a whole file or none. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "nvcache/status.h"

namespace nvcache {

// Writes a temporary file beside `path` and renames it: a reader sees the old
// contents or the new. Errors name the path and the cause.
[[nodiscard]] Status write_file_whole(const std::string& path, std::string_view contents);

// INVALID_ARGUMENT if a file cannot be created at `path`. Call it before a long run, so that
// the run is not lost. An empty path is fine: nothing will be written.
[[nodiscard]] Status check_writable(std::string_view option, const std::string& path);

}  // namespace nvcache
