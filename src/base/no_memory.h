// The status of an operation that found no memory. Thread-safe; throws nothing.
#pragma once

#include <new>

#include "absl/status/status.h"

namespace nvcache {

// RESOURCE_EXHAUSTED. The message is missing if there is no memory for that either.
inline absl::Status no_memory_status(const char* what) noexcept {
  try {
    return absl::ResourceExhaustedError(what);
  } catch (const std::bad_alloc&) {
    return absl::Status(absl::StatusCode::kResourceExhausted, "");
  }
}

}  // namespace nvcache
