// The code of fmt that the library calls. The headers of fmt declare it for libfmt.so, which a
// guest does not bring along: it is compiled in here, and hidden with all else.
//
// The library's files may call fmt::format, fmt::vformat and what they take; what else is missing,
// the linker says (--no-undefined).
#define FMT_HEADER_ONLY
#include "fmt/format.h"

namespace nvcache {

// Has the compiler keep them, as nothing here calls them.
[[gnu::used]] static std::string (*const kFormat)(fmt::string_view,
                                                  fmt::format_args) = &fmt::vformat;

}  // namespace nvcache
