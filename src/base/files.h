// Small files, whole: what the kernel tells, and what is written for others to read. Streams of the
// standard library would take a descriptor of 0 to 2 where a host has closed those: see
// base/descriptors.h. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvcache {

// Nothing if it cannot be read; what is behind `most_bytes` is left out.
std::optional<std::string> read_file(const std::string& path, uint64_t most_bytes = 1 << 20);

// These return 0, or an error number.
int append_to_file(const std::string& path, std::string_view text);
// Under another name first (PATH.partial), then renamed: a reader never sees half of it.
int replace_file(const std::string& path, std::string_view text);

// Without "." and "..". Nothing if the folder cannot be read, or not to its end.
std::optional<std::vector<std::string>> names_in_folder(const std::string& path);

}  // namespace nvcache
