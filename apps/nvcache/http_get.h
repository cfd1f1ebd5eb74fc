// One GET over HTTP, such as of nvcached's metrics port. Plain sockets: a page of text from a host
// that the user named needs no library. Each step has a time limit. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "nvcache/status_or.h"

namespace nvcache {

inline constexpr std::string_view kHttpScheme = "http://";

// The body of http://[USER:PASSWORD@]HOST[:PORT][/PATH], at most 16 MiB. INVALID_ARGUMENT if it is
// no such address; UNAVAILABLE with the cause if there is no answer, FAILED_PRECONDITION if it is
// another than 200.
[[nodiscard]] StatusOr<std::string> http_get(std::string_view url);

}  // namespace nvcache
