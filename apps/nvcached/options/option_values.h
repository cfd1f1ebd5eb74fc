// Reads the values of nvcached's options. `name` is the option as the user knows it ("-p",
// "--metrics-port"). An INVALID_ARGUMENT names the option, the value and what is allowed.
// Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/nvcached/options/settings.h"
#include "nvcache/status.h"

namespace nvcache::server {

[[nodiscard]] Status parse_int(std::string_view name, std::string_view value, int64_t low,
                               int64_t high, int& to);

// Megabytes, as memcached takes them, or a size with its unit.
[[nodiscard]] Status parse_memory(std::string_view name, std::string_view value, uint64_t& bytes);

// A size from 1 KiB to the largest value that a KvStore takes.
[[nodiscard]] Status parse_item_size(std::string_view name, std::string_view value,
                                     uint64_t& bytes);

[[nodiscard]] Status parse_protocol(std::string_view name, std::string_view value,
                                    Settings::Binding& binding);

// Octal, up to 777.
[[nodiscard]] Status parse_mask(std::string_view name, std::string_view value, uint32_t& mask);

[[nodiscard]] Status parse_character(std::string_view name, std::string_view value,
                                     char& character);

}  // namespace nvcache::server
