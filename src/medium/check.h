// Checks and messages that all media share. Stateless.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/errno_status.h"
#include "medium/medium.h"
#include "nvcache/status.h"

namespace nvcache {

// OUT_OF_RANGE unless [offset, offset + length) lies within size_bytes.
[[nodiscard]] Status check_range(std::string_view medium, uint64_t offset, uint64_t length,
                                 uint64_t size_bytes);

// INVALID_ARGUMENT unless offset, length and the buffer are multiples of granularity.
[[nodiscard]] Status check_granularity(std::string_view medium, uint64_t offset, const void* buffer,
                                       uint64_t length, uint32_t granularity_bytes);

// OUT_OF_RANGE unless 0 < size_bytes <= max_size_bytes.
[[nodiscard]] Status check_resize(std::string_view medium, uint64_t size_bytes,
                                  uint64_t max_size_bytes);

// The status for an errno of an operation on a file: RESOURCE_EXHAUSTED
// for a full disk, quota or memory; DATA_LOSS for EIO; PERMISSION_DENIED and
// NOT_FOUND as they are; else UNAVAILABLE. Names operation, path and cause.
[[nodiscard]] Status errno_status(std::string_view operation, std::string_view path,
                                  int error_number);

// size_bytes of the options, and max_size_bytes with 0 read as size_bytes.
// INVALID_ARGUMENT on a size of 0 or a maximum below the size.
[[nodiscard]] StatusOr<MediumOptions> complete_options(std::string_view medium,
                                                       const MediumOptions& options);

// RESOURCE_EXHAUSTED if an open file may not become `length_bytes` long, or if the disk has no room
// for `size_bytes` of it. Call it before allocating: a call that fails half way fills the disk for
// a while, and one past the process's limit is answered by a deadly SIGXFSZ.
[[nodiscard]] Status check_room(int fd, std::string_view path, uint64_t size_bytes,
                                uint64_t length_bytes);

}  // namespace nvcache
