// Views of bytes that nvcache reads and writes. A view owns nothing: the function that
// hands one out says how long the bytes behind it live.
#pragma once

#include <cstddef>
#include <span>

namespace nvcache {

using ByteView = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

}  // namespace nvcache
