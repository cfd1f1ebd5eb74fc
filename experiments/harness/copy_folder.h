// Copies the files of a folder: a database at rest.
#pragma once

#include <string>
#include <string_view>

#include "nvcache/status.h"

namespace nvcache {

// `to` must not exist; it gets the plain files of `from`, which has no folders in it.
// Shares their blocks where the file system can. The copies are on disk at the end and
// leave nothing in the page cache. Files whose names end with `linked` (empty: none) become hard
// links: those that are never changed. CANCELLED when interrupted: `to` is then incomplete.
[[nodiscard]] Status copy_folder(const std::string& from, const std::string& to,
                                 std::string_view linked = {});

}  // namespace nvcache
