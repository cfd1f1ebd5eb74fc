// The status of a system call that failed. Thread-safe.
#pragma once

#include <string_view>

#include "nvcache/status.h"

namespace nvcache {

// "what: No such file or directory", with the code that fits the number; OK for 0.
Status errno_status(int error, std::string_view what);

}  // namespace nvcache
