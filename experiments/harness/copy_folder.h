// Copies the files of a folder, for databases whose files are overwritten in place.
#pragma once

#include <string>

#include "nvcache/status.h"

namespace nvcache {

// `to` must not exist; it gets the plain files of `from`, which has no folders in it.
// Shares their blocks where the file system can. The copies are on disk at the end and
// leave nothing in the page cache. CANCELLED when interrupted: `to` is then incomplete.
[[nodiscard]] Status copy_folder(const std::string& from, const std::string& to);

}  // namespace nvcache
