// Finds the programs and libraries that a benchmark needs: files that lie in different places in a
// build tree and in an installed one. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nvcache/status_or.h"

namespace nvcache {

// The folder of this program's file; "." if the kernel does not tell.
std::string program_folder();

// The first of `places` that is a plain file, without links in its path. FAILED_PRECONDITION names
// `what` is missing, the option that gives its place, and the places that were tried.
[[nodiscard]] StatusOr<std::string> first_file(std::string_view what, std::string_view option,
                                               const std::vector<std::string>& places);

}  // namespace nvcache
