// The status of an operation that found no memory. Thread-safe; throws nothing.
#pragma once

#include <new>

#include "nvcache/status.h"

namespace nvcache {

// RESOURCE_EXHAUSTED. The message is missing if there is no memory for that either.
inline Status no_memory_status(const char* what) noexcept {
  try {
    return resource_exhausted_error(what);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kResourceExhausted, "");
  }
}

}  // namespace nvcache
