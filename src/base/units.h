// Sizes as people write them: "512", "64KiB", "1.5GiB", "10GB".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nvcache/status_or.h"

namespace nvcache {

// Accepts a non-negative number with an optional unit: B, K/KB/KiB, M.., G.., T..
// (K, KiB = 1024; KB = 1000). INVALID_ARGUMENT says what was given and allowed.
[[nodiscard]] StatusOr<uint64_t> parse_size_bytes(std::string_view text);

// "50MiB/s", "500GB/day" in bytes a second: a size per s, min, hour or day. INVALID_ARGUMENT says
// what was given and allowed.
[[nodiscard]] StatusOr<double> parse_bytes_per_second(std::string_view text);

// "1.00 GiB", "4.00 KiB", "17 B": three significant digits, binary units.
std::string format_bytes(uint64_t size_bytes);

// A decimal number in [low, high]; INVALID_ARGUMENT names `what`, the text and the range.
[[nodiscard]] StatusOr<double> parse_number(std::string_view what, std::string_view text,
                                            double low, double high);

}  // namespace nvcache
